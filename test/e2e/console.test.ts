/// <reference lib="dom" />
/** The console in a real browser, beside a system that is under load. */
import { fileURLToPath } from 'node:url';
import { freePort } from '@freshet/local';
import { eventually, RatingStream, System, sendRatings } from '@freshet/testkit';
import { type Browser, chromium, type Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { programPath } from '../../packages/local/src/on-path.ts';
import { Broadcast } from '../../services/console/src/broadcast.ts';
import { consoleServer } from '../../services/console/src/console-server.ts';
import { type Frame, type SeriesName, seriesNames } from '../../services/console/src/live/frame.ts';
import { pageFiles } from '../../services/console/src/page-files.ts';

let system: System;
let stream: RatingStream;
let browser: Browser;
let page: Page;
/** Errors of the browser's console, and requests that failed. */
const complaints: string[] = [];
const requests: string[] = [];

beforeAll(async () => {
  // One of two ratings is scored, so that a short test has something to show.
  system = await System.start({ QUALITY_SAMPLE: '2' });
  system.launch('console');
  stream = await RatingStream.open(system);
  await stream.produce(3_000);
  await system.ready('console');
  await system.settled();
  const executablePath = programPath('chromium') ?? 'chromium';
  browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] });
  page = await opened(system.consoleUrl);
});

afterAll(async () => {
  await browser?.close();
  await stream?.close();
  await system?.close();
});

async function opened(url: string): Promise<Page> {
  const tab = await browser.newPage({ viewport: { width: 1280, height: 900 } });
  tab.on('console', (message) => {
    if (message.type() !== 'info') complaints.push(`${message.type()}: ${message.text()}`);
  });
  tab.on('pageerror', (error) => complaints.push(error.message));
  tab.on('requestfailed', (request) => complaints.push(`failed: ${request.url()}`));
  tab.on('response', (response) => {
    if (response.status() >= 400) complaints.push(`${response.status()}: ${response.url()}`);
  });
  tab.on('request', (request) => requests.push(request.url()));
  await tab.goto(url);
  return tab;
}

const text = async (selector: string): Promise<string> =>
  (await page.locator(selector).textContent()) ?? '';
const listed = (): Promise<(string | null)[]> =>
  page
    .locator('#recommended li')
    .evaluateAll((rows) => rows.map((row) => row.dataset.item ?? null));

/** Ratings behind and the share of AUC that costs, as the page says them in a sentence. */
async function costOfLag(): Promise<{ lag: number; loss: number }> {
  const sentence = await text('#cost');
  if (sentence.startsWith('Up to date')) return { lag: 0, loss: 0 };
  const [, lag = '', unit = '', loss = ''] =
    /^([\d.,]+)( k)? ratings? behind: costs about ([\d.]+) % of AUC now\.$/.exec(sentence) ?? [];
  const ratings = Number(lag.replaceAll(',', '')) * (unit === '' ? 1 : 1_000);
  return { lag: ratings, loss: Number(loss || Number.NaN) };
}

/**
 * How many pixels of a chart have the colour of a line, by the name that the style sheet gives it.
 */
function pixelsOf(chart: string, colour: string): Promise<number> {
  return page.locator(`#${chart} canvas`).evaluate((canvas: HTMLCanvasElement, name) => {
    const { width, height } = canvas;
    const copy = Object.assign(document.createElement('canvas'), { width, height });
    const probe = copy.getContext('2d', { willReadFrequently: true });
    if (probe === null) return 0;
    probe.fillStyle = getComputedStyle(document.documentElement).getPropertyValue(name);
    probe.fillRect(0, 0, 1, 1);
    const [red, green, blue] = probe.getImageData(0, 0, 1, 1).data;
    probe.clearRect(0, 0, 1, 1);
    probe.drawImage(canvas, 0, 0);
    const { data } = probe.getImageData(0, 0, width, height);
    let found = 0;
    for (let at = 0; at < data.length; at += 4) {
      if (data[at] === red && data[at + 1] === green && data[at + 2] === blue) found++;
    }
    return found;
  }, colour);
}

async function drawn(chart: string, colour: string): Promise<void> {
  const isThere = async () => (await pixelsOf(chart, colour)) > 20;
  await eventually(`a line of ${colour} in ${chart}`, isThere);
}

describe('the console', () => {
  it('shows the flow with its rates, the charts and every service', async () => {
    await eventually('a live page', async () => (await text('#connection')) === 'live');
    await stream.during(async () => {
      await eventually('the rate of the stream', async () => {
        const rate = await page.locator('[data-arrow=ratings] .rate').textContent();
        return Number.parseFloat(rate ?? '') > 100;
      });
      await drawn('latency-chart', '--first');
      await drawn('lag-chart', '--first');
      await drawn('loss-chart', '--first');
    });
    const services = page.locator('#services tr');
    expect(await services.locator('th').allInnerTexts()).toEqual([
      'updater',
      'aggregator',
      'scorer',
      'console',
    ]);
    const states = await services.locator('td:nth-child(2)').allInnerTexts();
    expect(states).toEqual(['ready', 'ready', 'ready', 'ready']);
  });

  it('draws how soon a rating is servable, and how good the lists are', async () => {
    await stream.during(async () => {
      await drawn('latency-chart', '--second');
      await drawn('quality-chart', '--first');
      await drawn('quality-chart', '--second');
    });
    expect(await text('#latency-now')).toMatch(/servable in [\d.]+ m?s, p99 [\d.]+ m?s$/);
    expect(await text('#quality-now')).toMatch(/AUC 0\.\d{3}, popularity 0\.\d{3}/);
  });

  it('shows what the ranking has learnt to go by, for newcomers and for others', async () => {
    // The stream rates the same things again and again: only first ratings teach what counts.
    await sendRatings(
      system,
      Array.from({ length: 600 }, (_, nth) => {
        const [user, item] = [`guest${nth % 40}`, `i${Math.floor(nth / 40)}`];
        return { user, value: { user, item, value: 4 } };
      }),
    );
    await page.locator('#ranking').waitFor();
    expect(await text('#ranking-now')).toMatch(/^learnt from [\d,.]+( k)? ratings$/);
    const newcomers = await page.locator('[data-ratings="0"] .bar').getAttribute('aria-label');
    const shares = [...(newcomers ?? '').matchAll(/(\d+) %/g)].map(([, share]) => Number(share));
    expect(shares).toHaveLength(5);
    // Each is rounded to a hundredth.
    expect(Math.abs(shares.reduce((all, share) => all + share) - 100)).toBeLessThanOrEqual(3);
  });

  it('changes the list of a user who rates three items, with mouse or keyboard, and tells how fast', async () => {
    await eventually('a list', async () => (await listed()).length === 10);
    for (let nth = 0; nth < 3; nth++) {
      const before = await listed();
      const row = page.locator('#recommended li').first();
      if (nth < 2) {
        await row.getByRole('button', { name: /^5 of 5/ }).click();
      } else {
        await row.getByRole('button', { name: /^1 of 5/ }).focus();
        for (const key of ['ArrowRight', 'ArrowRight', 'ArrowRight', 'ArrowRight', 'Enter']) {
          await page.keyboard.press(key);
        }
      }
      await eventually('another list', async () => {
        const after = await listed();
        return after.length === 10 && JSON.stringify(after) !== JSON.stringify(before);
      });
      expect(await listed()).not.toContain(before[0]);
      expect(await text('#rate-status')).toMatch(/ rated 5: .+; \d+ ms from the click to the new/);
    }
    const { ratings } = (await (await fetch(`${system.scorerUrl}/v1/users/you`)).json()) as {
      ratings: { value: number }[];
    };
    expect(ratings.map(({ value }) => value)).toEqual([5, 5, 5]);
    // After the one that was given with the keyboard, its user is still there.
    expect(await page.locator('#recommended li:focus-within').count()).toBe(1);
    const marks = await page.locator('#recommended .mark').allInnerTexts();
    expect(marks.filter((mark) => mark !== '')).not.toEqual([]);
  });

  it('explains an item on a click: which ratings carry it, and what is like it', async () => {
    await page.locator('#recommended .name').first().click();
    await page.locator('.reasons tr.total').waitFor();
    const parts = await page.locator('.reasons tr:not(.total) .score').allInnerTexts();
    const total = Number(await text('.reasons .total .score'));
    expect(parts.length).toBeGreaterThanOrEqual(4);
    // Each part is rounded to a hundredth.
    const sum = parts.reduce((all, part) => all + Number(part), 0);
    expect(Math.abs(sum - total)).toBeLessThanOrEqual(0.005 * (parts.length + 2));
    expect(await page.locator('.similar li').count()).toBeGreaterThan(3);
  });

  it('shows a record that cannot be applied', async () => {
    await sendRatings(system, [{ user: 'ann', value: '<nonsense>', partition: 0 }]);
    const row = page.locator('#letters tr').first();
    await row.waitFor();
    expect(await row.textContent()).toMatch(/not-json.*ratings\/0@\d+.*10 B.*<nonsense>/s);
  });

  it('is as wide as a phone, with nothing to scroll sideways', async () => {
    await page.setViewportSize({ width: 390, height: 844 });
    const widths = async () =>
      page.evaluate(() => ({
        content: document.documentElement.scrollWidth,
        picture: document.querySelector('#flow svg')?.getAttribute('viewBox')?.split(' ')[2],
      }));
    await eventually('the tall picture', async () => (await widths()).picture === '350');
    expect((await widths()).content).toBeLessThanOrEqual(390);
    await page.setViewportSize({ width: 1280, height: 900 });
  });

  it('asks for nothing while it only shows: what is new is sent to it', async () => {
    const before = requests.length;
    const clock = page.locator('#services tr').first().locator('td:nth-child(3)');
    const shown = await clock.textContent();
    await eventually('the page to move on', async () => (await clock.textContent()) !== shown);
    expect(requests.slice(before)).toEqual([]);
    expect(complaints).toEqual([]);
  });

  it('tells what it costs when the updater stops for five seconds under load, and when it is over', async () => {
    await eventually('no lag', async () => (await costOfLag()).lag === 0);
    const updater = system.child('updater');
    await stream.during(async () => {
      updater.signal('SIGSTOP');
      try {
        const stopped = page.locator('[data-box=user].stopped');
        await stopped.waitFor();
        expect(await stopped.textContent()).toContain('does not answer');
        let highest = { lag: 0, loss: 0 };
        const end = Date.now() + 5_000;
        await eventually('lag and loss to rise, for five seconds', async () => {
          const { lag, loss } = await costOfLag();
          highest = { lag: Math.max(highest.lag, lag), loss: Math.max(highest.loss, loss || 0) };
          return Date.now() > end && highest.lag > 500 && highest.loss > 0;
        });
        expect(await text('#lag-now')).toMatch(/^intake [\d.,]+ · users [\d.,]+/);
      } finally {
        updater.signal('SIGCONT');
      }
    });
    await eventually('both to fall back, and the updater to answer', async () => {
      const { lag, loss } = await costOfLag();
      const stopped = await page.locator('[data-box=user].stopped').count();
      return lag === 0 && loss === 0 && stopped === 0;
    });
    expect(complaints).toEqual([]);
  });

  it('finds its server again after a restart, without being loaded anew', async () => {
    await page.evaluate(() => document.body.setAttribute('data-kept', 'yes'));
    await system.child('console').stop();
    await eventually('it to be told', async () => (await text('#connection')).includes('lost'));
    system.launch('console');
    await eventually('a live page', async () => (await text('#connection')) === 'live');
    expect(await page.locator('body').getAttribute('data-kept')).toBe('yes');
  });

  it('asks once for a token where one is set', async () => {
    const CONSOLE_PORT = String(await freePort());
    const settings = { HTTP_HOST: '127.0.0.1', HTTP_TOKEN: 'secret', CONSOLE_PORT };
    system.launchAnother('console', { ...settings, CONSOLE_ADMIN_PORT: '0' });
    const url = `http://127.0.0.1:${CONSOLE_PORT}`;
    await eventually('the other console', async () => (await fetch(url)).ok);
    page = await opened(url);
    for (const token of ['wrong', 'secret']) {
      await page.locator('#token-dialog[open]').waitFor();
      await page.locator('#token').fill(token);
      await page.keyboard.press('Enter');
    }
    await eventually('a live page', async () => (await text('#connection')) === 'live');
    await page.reload();
    await eventually('a live page', async () => (await text('#connection')) === 'live');
    expect(await page.locator('#token-dialog[open]').count()).toBe(0);
  });
});

/** Opens the page on a server that tells it only what it is told here. */
async function fedByHand() {
  const broadcast = new Broadcast(() => {});
  const history = () => ({ names: seriesNames, samples: [], services: [], letters: [] });
  const scorer = { url: system.scorerUrl, token: '' };
  const files = pageFiles(
    fileURLToPath(new URL('../../services/console/dist/page', import.meta.url)),
  );
  const server = consoleServer({ files, token: '', scorer, broadcast, history, log: console });
  page = await opened(await server.listen({ host: '127.0.0.1', port: 0 }));
  await eventually('the page to listen', async () => broadcast.viewers);
  return { broadcast, server };
}

describe('what counts in a ranking', () => {
  it('is shown once it was learnt, and not of a model that ranks by its factors alone', async () => {
    const complaintsBefore = complaints.length;
    const { broadcast, server } = await fedByHand();
    let sent = 0;
    const tell = async (shares: Partial<Record<SeriesName, number>>): Promise<void> => {
      sent++;
      const values = seriesNames.map((name) => (name === 'users' ? sent : (shares[name] ?? null)));
      broadcast.deliver({ at: 1_000 * sent, values, services: [], letters: [] });
      const shown = `${sent} users`;
      await eventually(shown, async () => (await text('#size')).startsWith(shown));
    };
    const panel = page.locator('#ranking');
    const widthOf = async (piece: string): Promise<number> =>
      (await page.locator(`#ranking-bars ${piece}`).boundingBox())?.width ?? 0;
    await tell({});
    expect(await panel.isVisible()).toBe(false);
    await tell({ 'share:own:255': 0.75, 'share:popular:255': 0.25, 'share:now:255': 0 });
    expect(await panel.isVisible()).toBe(true);
    const regulars = '[data-ratings="255"]';
    expect(await page.locator(`${regulars} span:visible`).allInnerTexts()).toEqual([
      '75 %',
      '25 %',
    ]);
    const [own, popular] = await Promise.all(
      ['own', 'popular'].map((part) => widthOf(`${regulars} [data-part=${part}]`)),
    );
    expect((own ?? 0) / (popular ?? 1)).toBeCloseTo(3, 0);
    expect(await page.locator('[data-ratings="0"] span:visible').allInnerTexts()).toEqual(['–']);
    // The aggregator is away: the rows stay, without figures.
    await tell({});
    expect(await page.locator(`${regulars} span:visible`).allInnerTexts()).toEqual(['–']);
    expect(complaints.slice(complaintsBefore)).toEqual([]);
    await server.close();
  });
});

describe('a page that is left open', () => {
  const FRAMES_AT_ONCE = 1_000; // below what the server lets a page leave unread

  /**
   * As busy as a frame gets: every figure moves, a dead letter now and then, a service that comes
   * and goes.
   */
  function frame(nth: number, mark: number): Frame {
    const values = seriesNames.map((name) => (name === 'users' ? mark : (nth * 7) % 1_000));
    const letter = { offset: nth, at: nth, reason: 'not-json', source: 'ratings/0@1', bytes: 9 };
    const state = { service: 'scorer', address: 'x:1', waitingFor: null, startedAt: 0 };
    const health = { memoryBytes: nth, loopDelaySeconds: 0.01, version: '1' };
    const downSince = nth % 50 === 0 ? nth : null;
    return {
      at: 1_700_000_000_000 + nth * 1_000,
      values,
      services: [{ ...state, ...health, downSince }],
      letters: nth % 100 === 0 ? [{ ...letter, preview: `{"n":${nth}}` }] : [],
    };
  }

  it('lists items as soon as there are some, without a click', async () => {
    const { broadcast, server } = await fedByHand();
    const json = { items: [] as object[], ratings: [], fallback: 'newcomer' };
    await page.route('**/v1/**', (route) => route.fulfill({ json }));
    broadcast.deliver({ ...frame(1, 1), values: seriesNames.map(() => 0) });
    await eventually('the reason', async () => (await text('#rate-status')).includes('learnt yet'));
    json.items.push({ item: 'fox', score: 1 });
    broadcast.deliver(frame(2, 1));
    await eventually('the first item', async () => (await listed()).includes('fox'));
    await page.unroute('**/v1/**');
    await server.close();
  });

  it('holds no more after five hours than after two', async () => {
    const { broadcast, server } = await fedByHand();
    const tools = await page.context().newCDPSession(page);
    await tools.send('HeapProfiler.enable');
    const held = async () => {
      await tools.send('HeapProfiler.collectGarbage');
      const { usedSize } = await tools.send('Runtime.getHeapUsage');
      const { nodes } = await tools.send('Memory.getDOMCounters');
      return { megabytes: usedSize / (1 << 20), nodes };
    };
    // Not by a locator: what the browser's driver keeps for each would be measured with the page.
    const expression = 'document.getElementById("size").textContent';
    const size = async (): Promise<string> =>
      (await tools.send('Runtime.evaluate', { expression })).result.value;
    let sent = 0;
    const feed = async (until: number): Promise<void> => {
      while (sent < until) {
        const mark = 1 + sent / FRAMES_AT_ONCE;
        const end = Math.min(sent + FRAMES_AT_ONCE, until);
        for (; sent < end; sent++) broadcast.deliver(frame(sent, mark));
        const shown = `${Math.floor(mark)} users`;
        await eventually(shown, async () => (await size()).startsWith(shown));
      }
    };
    await feed(7_000);
    const early = await held();
    await feed(20_000);
    // The frames between, had they been kept, would be 9 MB as text alone. What the last frame
    // replaced may outlive one collection (the browser's tasks hold it); what leaks outlives all.
    await eventually('the page to hold what it held', async () => {
      const late = await held();
      return late.megabytes - early.megabytes < 4 && late.nodes - early.nodes < 50;
    });
    await server.close();
  });
});
