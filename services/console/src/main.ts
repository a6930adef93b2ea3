/** The console: a web page that shows the whole system live, and the server behind it. */
import { fileURLToPath } from 'node:url';
import { adminAddress, httpAddress, scorerAddress, serviceSettings } from '@freshet/config';
import { topicName } from '@freshet/events';
import { readSources } from '@freshet/positions';
import { AdminServer, listening, runService } from '@freshet/service';
import { openTopics } from '@freshet/session';
import { Tail } from '@freshet/stream';
import { metrics } from '@freshet/telemetry';
import { Broadcast } from './broadcast.ts';
import { consoleServer } from './console-server.ts';
import { LetterBox } from './letter-box.ts';
import { LETTERS } from './live/frame.ts';
import { pageFiles } from './page-files.ts';
import { Sampler } from './sampler.ts';
import { Target, targetsOf } from './target.ts';

/** Built by build.mjs, beside what the compiler makes of this file. */
const PAGE = fileURLToPath(new URL('../dist/page', import.meta.url));
/** Dead letters are fetched once in so long; a shorter wait would cost more requests. */
const LETTER_MS = 1_000;

const settings = serviceSettings('console');

await runService('console', settings.LOG_LEVEL, async (context) => {
  const { log, stack, fail } = context;
  let waitingFor: string | null = 'Kafka';
  const health = { waitingFor: () => waitingFor };
  stack.own(await AdminServer.open(adminAddress(settings, 'CONSOLE_ADMIN_PORT'), health));

  // The console needs Kafka only: it must keep running when Redis is down.
  const { kafka, admin } = await openTopics('console', settings, context);
  const { MODEL: model, RATINGS_TOPICS: topics } = settings;
  const box = new LetterBox(model);
  const letters = topicName('ratingsDeadLetter', model);
  const ranges = await admin.ranges(letters);
  stack.own(
    await Tail.open(kafka, admin, {
      topic: letters,
      model,
      log,
      fail,
      gatherMs: LETTER_MS,
      startAt: async (partition) => {
        // A partition that was added meanwhile is read from its beginning.
        const { start, end } = ranges.get(partition) ?? { start: 0, end: 0 };
        return Math.max(start, end - LETTERS);
      },
      receive: (_, records) => box.receive(records),
    }),
  );

  const lookAtLog = async () => {
    let [produced, taken] = [0, 0];
    for (const { start, end, position } of await readSources(admin, model, topics)) {
      produced += end;
      taken += position ?? start;
    }
    return { produced, taken };
  };
  const broadcast: Broadcast = stack.own(
    new Broadcast((viewers) => {
      metrics.consoleViewers.set(viewers);
      sampler.hurry();
    }),
  );
  const sampler = stack.own(
    new Sampler({
      targets: targetsOf(settings).map((address) => new Target(address)),
      lookAtLog,
      letters: box,
      viewers: () => broadcast.viewers,
      deliver: (frame) => broadcast.deliver(frame),
      fail,
    }),
  );
  waitingFor = 'its own HTTP port';
  const server = stack.own(
    consoleServer({
      files: pageFiles(PAGE),
      token: settings.HTTP_TOKEN,
      scorer: scorerAddress(settings),
      broadcast,
      history: () => sampler.history(),
      log,
    }),
  );
  const url = await listening(httpAddress(settings, 'CONSOLE_PORT'), (at) => server.listen(at));
  sampler.start();
  waitingFor = null;
  log.info({ model, url }, 'console started');
});
