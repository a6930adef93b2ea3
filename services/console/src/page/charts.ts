/** The four charts: update latency, lag, quality, and the quality that the lag costs. */
import type { SeriesName } from '../live/frame.ts';
import type { LiveModel } from '../live/live-model.ts';
import { costOfLag, count, decimal, duration, percent } from '../live/wording.ts';
import { Chart, type Line } from './chart.ts';
import { found, say } from './element.ts';

type Users = 'All' | 'Cold' | 'New';

export class Charts {
  readonly #latency = new Chart({
    place: found('latency-chart', HTMLElement),
    label: 'Time from a rating to its vectors, over the last minutes',
    lines: [
      { label: 'stored p50', series: 'storedP50', colour: '--first' },
      { label: 'stored p99', series: 'storedP99', colour: '--first', dashed: true },
      { label: 'servable p50', series: 'servableP50', colour: '--second' },
      { label: 'servable p99', series: 'servableP99', colour: '--second', dashed: true },
    ],
    left: { kind: 'logarithmic', format: (each) => duration(each / 1000), least: 10 },
    scale: 1000,
  });
  readonly #lag = new Chart({
    place: found('lag-chart', HTMLElement),
    label: 'Ratings produced and not yet applied, over the last minutes',
    lines: [
      { label: 'intake', series: 'lagIntake', colour: '--first', dashed: true },
      { label: 'users', series: 'lagUser', colour: '--first' },
      { label: 'items', series: 'lagItem', colour: '--second' },
      { label: 'served', series: 'lagServed', colour: '--third', dashed: true },
    ],
    left: { kind: 'from-zero', format: count, least: 10 },
  });
  readonly #quality = new Chart({
    place: found('quality-chart', HTMLElement),
    label: 'How well the next rated item was ranked before it was learnt, over the last minutes',
    lines: qualityLines('All'),
    left: { kind: 'fitted', format: (value) => decimal(value, 2), least: 0.1 },
    right: { kind: 'from-zero', format: percent, least: 0.1 },
  });
  readonly #loss = new Chart({
    place: found('loss-chart', HTMLElement),
    label: 'Share of AUC that the lag costs, over the last minutes',
    lines: [
      { label: 'all users', series: 'lossAll', colour: '--first' },
      { label: 'cold users', series: 'lossCold', colour: '--second' },
    ],
    left: { kind: 'from-zero', format: percent, least: 0.01 },
  });
  readonly #choice = found('quality-users', HTMLSelectElement);

  constructor(changed: () => void) {
    this.#choice.addEventListener('change', () => {
      this.#quality.follow(qualityLines(this.#users));
      changed();
    });
  }

  show({ series }: LiveModel): void {
    const now = (name: SeriesName): number => series.latest(name);
    for (const chart of [this.#latency, this.#lag, this.#quality, this.#loss]) chart.show(series);
    const latency = [
      `stored in ${duration(now('storedP50'))}, p99 ${duration(now('storedP99'))}`,
      `servable in ${duration(now('servableP50'))}, p99 ${duration(now('servableP99'))}`,
    ];
    say(found('latency-now', HTMLElement), latency.join(' · '));
    const lags = [
      `intake ${count(now('lagIntake'))}`,
      `users ${count(now('lagUser'))}`,
      `items ${count(now('lagItem'))}`,
      `served ${count(now('lagServed'))} ratings`,
      `oldest ${duration(now('lagSeconds'))}`,
    ];
    say(found('lag-now', HTMLElement), lags.join(' · '));
    const users = this.#users;
    const auc = decimal(now(`auc${users}`), 3);
    const byPopularity = decimal(now(`auc${users}Popularity`), 3);
    const quality = [
      `AUC ${auc}, popularity ${byPopularity}`,
      `in the best ten ${percent(now(`hit${users}`))}`,
    ];
    say(found('quality-now', HTMLElement), quality.join(' · '));
    const losses = `all ${percent(now('lossAll'))} · cold ${percent(now('lossCold'))} of AUC`;
    say(found('loss-now', HTMLElement), losses);
    say(found('cost', HTMLElement), costOfLag(now('lagUser'), now('lossAll')));
  }

  get #users(): Users {
    return this.#choice.value as Users;
  }
}

function qualityLines(users: Users): Line[] {
  const [first, second] = [{ colour: '--first' }, { colour: '--second', right: true }] as const;
  return [
    { label: 'AUC', series: `auc${users}`, ...first },
    { label: 'AUC by popularity', series: `auc${users}Popularity`, ...first, dashed: true },
    { label: 'in the best ten', series: `hit${users}`, ...second },
    { label: 'by popularity', series: `hit${users}Popularity`, ...second, dashed: true },
  ];
}
