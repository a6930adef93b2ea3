/** The picture of the flow: the rate and lag of each topic, and the state of each service. */
import type { SeriesName } from '../live/frame.ts';
import { isServing, type LiveModel, troubleOf } from '../live/live-model.ts';
import { count, rate } from '../live/wording.ts';
import { drawn, say } from './element.ts';
import { type ArrowName, type BoxName, type Layout, tall, wide } from './flow-layout.ts';

interface Box {
  readonly title: string;
  /** Absent if the box is not a service of ours. */
  readonly service?: string;
  readonly about: (model: LiveModel) => string;
}

interface Arrow {
  readonly title: string;
  readonly rate?: SeriesName;
  readonly lag?: SeriesName;
  /** The arrow is pale while this service does not run. */
  readonly from?: string;
}

const boxes: Readonly<Record<BoxName, Box>> = {
  producers: { title: 'producers', about: () => 'any topics, any keys' },
  intake: { title: 'intake', service: 'updater', about: () => 'updater' },
  user: { title: 'user half-step', service: 'updater', about: () => 'updater' },
  item: { title: 'item half-step', service: 'updater', about: () => 'updater' },
  redis: { title: 'Redis', about: ({ series }) => `${count(series.latest('ratings'))} ratings` },
  aggregator: { title: 'aggregator', service: 'aggregator', about: () => 'sums the grams' },
  scorer: {
    title: 'scorer',
    service: 'scorer',
    about: ({ series }) => `${count(series.latest('items'))} items`,
  },
};

const arrows: Readonly<Record<ArrowName, Arrow>> = {
  ratings: { title: 'ratings', rate: 'producedRate', lag: 'lagIntake' },
  userRatings: { title: 'user-ratings', rate: 'takenRate', lag: 'lagUser', from: 'updater' },
  itemRatings: { title: 'item-ratings', rate: 'userRate', lag: 'lagItem', from: 'updater' },
  factors: { title: 'factors', rate: 'movedRate', lag: 'lagServed', from: 'updater' },
  userStore: { title: 'vectors', rate: 'userRate', from: 'updater' },
  itemStore: { title: 'vectors', rate: 'itemRate', from: 'updater' },
  gramParts: { title: 'gram-parts', from: 'updater' },
  grams: { title: 'grams', rate: 'gramRate', from: 'aggregator' },
  requests: { title: 'requests', rate: 'requestRate' },
};

/** On narrower screens the wide picture could not be read. */
const WIDE_ENOUGH = '(min-width: 760px)';
/** A lag of more than so many seconds of incoming ratings is shown in red. */
const BEHIND_SECONDS = 2;

export class FlowPicture {
  #boxes = new Map<BoxName, { group: SVGGElement; about: SVGTextElement }>();
  #arrows = new Map<ArrowName, { group: SVGGElement; rate: Element; lag: Element }>();
  #drawn: Layout | undefined;

  constructor(private readonly place: Element) {}

  show(model: LiveModel): void {
    const layout = matchMedia(WIDE_ENOUGH).matches ? wide : tall;
    if (layout !== this.#drawn) this.#draw(layout);
    for (const [name, { group, about }] of this.#boxes) {
      const { service, about: words } = boxes[name];
      const trouble = service === undefined ? null : troubleOf(service, model.services);
      group.classList.toggle('stopped', trouble !== null);
      say(about, trouble ?? words(model));
    }
    for (const [name, parts] of this.#arrows) {
      const { rate: series, lag, from } = arrows[name];
      if (series !== undefined) say(parts.rate, rate(model.series.latest(series)));
      const isStill = from !== undefined && !isServing(from, model.services);
      parts.group.classList.toggle('still', isStill);
      if (lag === undefined) continue;
      const waiting = model.series.latest(lag);
      say(parts.lag, `lag ${count(waiting)}`);
      const usual = model.series.latest('producedRate') * BEHIND_SECONDS;
      parts.group.classList.toggle('behind', waiting > Math.max(usual || 0, 1));
    }
  }

  #draw(layout: Layout): void {
    this.#drawn = layout;
    const { width, height } = layout;
    const place = { viewBox: '0 0 8 8', refX: '2', refY: '4', orient: 'auto' };
    const size = { markerWidth: '7', markerHeight: '7' };
    const shape = drawn('path', { d: 'M0 0L8 4L0 8Z', class: 'tip' });
    const tip = drawn('marker', { id: 'tip', ...place, ...size }, shape);
    const picture = drawn(
      'svg',
      { viewBox: `0 0 ${width} ${height}`, role: 'img', 'aria-labelledby': 'flow-heading' },
      drawn('defs', {}, tip),
    );
    for (const name of Object.keys(arrows) as ArrowName[])
      picture.append(this.#arrow(name, layout));
    for (const name of Object.keys(boxes) as BoxName[]) picture.append(this.#box(name, layout));
    this.place.replaceChildren(picture);
  }

  #box(name: BoxName, { boxes: places, box: { width, height } }: Layout): SVGGElement {
    const { x, y } = places[name];
    const { title, service } = boxes[name];
    const middle = String(x + width / 2);
    const about = drawn('text', { x: middle, y: String(y + height / 2 + 16), class: 'about' });
    const group = drawn(
      'g',
      { class: service === undefined ? 'box other' : 'box', 'data-box': name },
      drawn('rect', { x: `${x}`, y: `${y}`, width: `${width}`, height: `${height}`, rx: '8' }),
      drawn('text', { x: middle, y: String(y + height / 2 - 4), class: 'title' }, title),
      about,
    );
    this.#boxes.set(name, { group, about });
    return group;
  }

  #arrow(name: ArrowName, { arrows: places, anchor }: Layout): SVGGElement {
    const { path, label } = places[name];
    const { title, lag } = arrows[name];
    const [x, y] = [String(label.x), String(label.y)];
    const speed = drawn('tspan', { class: 'rate' });
    // In the wide layout the lag is written below its arrow, elsewhere below the title.
    const below = String(label.y + (anchor === 'middle' && lag !== undefined ? 60 : 15));
    const waiting = drawn('text', { x, y: below, class: 'lag', 'text-anchor': anchor });
    const words = drawn('text', { x, y, 'text-anchor': anchor }, `${title} `, speed);
    const line = drawn('path', { d: path, 'marker-end': 'url(#tip)' });
    const group = drawn('g', { class: 'arrow', 'data-arrow': name }, line, words, waiting);
    this.#arrows.set(name, { group, rate: speed, lag: waiting });
    return group;
  }
}
