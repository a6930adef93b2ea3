/** `freshet`: the command line. Each command lives in a file of its own. */
import { SetupProblem } from '@freshet/local';

interface Command {
  readonly about: string;
  /** Returns the exit code. */
  readonly run: (args: readonly string[]) => Promise<number>;
}

const commands: Readonly<Record<string, Command>> = {
  up: {
    about: 'run everything on this machine, with a demo stream (npm start)',
    run: async (args) => (await import('./up/command.ts')).up(args),
  },
  demo: {
    about: 'stream demo ratings to a system that is running',
    run: async (args) => (await import('./demo.ts')).demo(args),
  },
  evaluate: {
    about: 'learn from a ratings file how good, how fast and how late-sensitive a model is',
    run: async (args) => (await import('./evaluate/command.ts')).evaluate(args),
  },
  topics: {
    about: 'create the topics that are missing and tell what is in each',
    run: async (args) => (await import('./topics.ts')).topics(args),
  },
  intake: {
    about: 'show what the settings make of the records of a file or a topic, and learn nothing',
    run: async (args) => (await import('./intake/command.ts')).intakeCommand(args),
  },
  import: {
    about: 'send the ratings of a file to a ratings topic; goes on where it was interrupted',
    run: async (args) => (await import('./import/command.ts')).importCommand(args),
  },
  factorize: {
    about: 'learn all known ratings once more, at once; the stream goes on from there',
    run: async (args) => (await import('./factorize/command.ts')).factorizeCommand(args),
  },
  audit: {
    about: 'check that everything the model holds fits together, reading only',
    run: async (args) => (await import('./audit/command.ts')).auditCommand(args),
  },
  rebuild: {
    about: 'empty the store and learn everything again from the sources',
    run: async (args) => (await import('./rebuild/command.ts')).rebuildCommand(args),
  },
  sources: {
    about: 'tell whether every log still holds what comes next; accept what is lost',
    run: async (args) => (await import('./sources/command.ts')).sourcesCommand(args),
  },
  'dead-letters': {
    about: 'list or replay the records that could not be applied',
    run: async (args) => (await import('./dead-letters/command.ts')).deadLetters(args),
  },
  reference: {
    about: 'print docs/reference.md from the tables of settings, topics and metrics',
    run: async () => (await import('./reference.ts')).reference(),
  },
};

function help(): string {
  const rows = Object.entries(commands).map(([name, { about }]) => `  ${name.padEnd(12)} ${about}`);
  return `freshet COMMAND [options]\n\n${rows.join('\n')}\n\nfreshet COMMAND --help tells the options of a command.\n`;
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
