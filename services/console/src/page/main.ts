/** The page: a model that the server's frames update, and the parts that show it. */
import { isServing, LiveModel } from '../live/live-model.ts';
import { count } from '../live/wording.ts';
import { Charts } from './charts.ts';
import { found, say } from './element.ts';
import { follow } from './feed.ts';
import { FlowPicture } from './flow-picture.ts';
import { RankingPanel } from './ranking-panel.ts';
import { RatePanel } from './rate-panel.ts';
import { askForToken } from './server.ts';
import { LettersTable, ServicesTable } from './tables.ts';

const model = new LiveModel();
const connection = found('connection', HTMLElement);
const flow = new FlowPicture(found('flow', HTMLElement));
const charts = new Charts(() => show());
const ranking = new RankingPanel();
const services = new ServicesTable();
const letters = new LettersTable();
const panel = new RatePanel();

function paint(): void {
  const { series } = model;
  const known = ['users', 'items', 'ratings'] as const;
  const sizes = known.map((name) => `${count(series.latest(name))} ${name}`);
  say(found('size', HTMLElement), sizes.join(' · '));
  flow.show(model);
  charts.show(model);
  ranking.show(model);
  services.show(model);
  letters.show(model);
}

/** Paints once for any number of frames that come together, and never in a hidden tab. */
let isDue = false;
function show(): void {
  if (isDue) return;
  isDue = true;
  requestAnimationFrame(() => {
    isDue = false;
    paint();
  });
}

/**
 * Fetches the lists when the scorer becomes ready, and when it has its first items; later only the
 * user's actions do.
 */
let scorerHad: 'nothing' | 'no items' | 'items' = 'nothing';
function openPanel(): void {
  const isReady = isServing('scorer', model.services);
  const has = !isReady ? 'nothing' : model.series.latest('items') > 0 ? 'items' : 'no items';
  if (has !== 'nothing' && has !== scorerHad && !panel.isOpen) void panel.open();
  scorerHad = has;
}

matchMedia('(min-width: 760px)').addEventListener('change', show);

void follow({
  restart: (history) => {
    model.restart(history);
    show();
    openPanel();
  },
  add: (frame) => {
    model.add(frame);
    show();
    openPanel();
  },
  connected: () => {
    connection.classList.remove('lost');
    say(connection, 'live');
  },
  lost: (words) => {
    connection.classList.add('lost');
    say(connection, words);
  },
  tokenNeeded: askForToken,
});
