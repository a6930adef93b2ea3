/** `freshet`: the command line. Each command lives in a file of its own. */
import { SetupProblem } from '@freshet/local';

interface Command {
  readonly about: string;
  /** Returns the exit code. */
  readonly run: (args: readonly string[]) => Promise<number>;
}

const commands: Readonly<Record<string, Command>> = {
  up: {
    about: 'run Kafka, Redis and all services on this machine, with a demo stream (npm start)',
    run: async (args) => (await import('./up/command.ts')).up(args),
  },
  demo: {
    about: 'stream generated ratings to a running system',
    run: async (args) => (await import('./demo.ts')).demo(args),
  },
  load: {
    about: 'send made-up ratings and requests at a given rate, and see how late they are learnt',
    run: async (args) => (await import('./load/command.ts')).loadCommand(args),
  },
  evaluate: {
    about: 'measure on a file of ratings how good and how fast the model is, and what lag costs',
    run: async (args) => (await import('./evaluate/command.ts')).evaluate(args),
  },
  topics: {
    about: 'create the topics that are missing, and list what each holds',
    run: async (args) => (await import('./topics.ts')).topics(args),
  },
  intake: {
    about: 'show how the settings read the records of a file or a topic; learns nothing',
    run: async (args) => (await import('./intake/command.ts')).intakeCommand(args),
  },
  import: {
    about: 'send the ratings of a file to a topic; continues an interrupted import',
    run: async (args) => (await import('./import/command.ts')).importCommand(args),
  },
  factorize: {
    about: 'learn all ratings in the store again, at once; updaters must be stopped',
    run: async (args) => (await import('./factorize/command.ts')).factorizeCommand(args),
  },
  audit: {
    about: 'check that everything the model holds is consistent; changes nothing',
    run: async (args) => (await import('./audit/command.ts')).auditCommand(args),
  },
  rebuild: {
    about: 'empty the store and learn everything again from RATINGS_TOPICS',
    run: async (args) => (await import('./rebuild/command.ts')).rebuildCommand(args),
  },
  snapshot: {
    about: 'write everything that the store holds to a file, while the services run',
    run: async (args) => (await import('./snapshot/command.ts')).snapshotCommand(args),
  },
  restore: {
    about: 'bring the model back from a snapshot; services must be stopped',
    run: async (args) => (await import('./restore/command.ts')).restoreCommand(args),
  },
  sources: {
    about: 'list positions and lag of every partition; accept the loss of records',
    run: async (args) => (await import('./sources/command.ts')).sourcesCommand(args),
  },
  'dead-letters': {
    about: 'list the records that could not be applied, or send them again',
    run: async (args) => (await import('./dead-letters/command.ts')).deadLetters(args),
  },
  asyncapi: {
    about: 'print the AsyncAPI document of the topics that others share with Freshet',
    run: async (args) => (await import('./asyncapi/command.ts')).asyncapi(args),
  },
  reference: {
    about: 'print docs/reference.md: all settings, topics and metrics',
    run: async () => (await import('./reference.ts')).reference(),
  },
};

function help(): string {
  const rows = Object.entries(commands).map(([name, { about }]) => `  ${name.padEnd(12)} ${about}`);
  return `freshet COMMAND [options]\n\n${rows.join('\n')}\n\nfreshet COMMAND --help explains a command and its options.\nSettings are environment variables: see docs/reference.md.\n`;
}

const [name = '--help', ...args] = process.argv.slice(2);
const command = commands[name];
if (command === undefined) {
  const asked = name === '--help' || name === 'help';
  (asked ? process.stdout : process.stderr).write(
    asked ? help() : `freshet: no command "${name}"\n\n${help()}`,
  );
  process.exit(asked ? 0 : 2);
}
try {
  process.exitCode = await command.run(args);
} catch (error) {
  if (!(error instanceof SetupProblem)) throw error;
  process.stderr.write(`freshet: ${error.message}\n`);
  process.exitCode = 1;
}
