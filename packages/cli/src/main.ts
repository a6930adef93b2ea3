/** `freshet`: the command line. Each command lives in a file of its own. */
import { readFileSync } from 'node:fs';
import { SetupProblem } from '@freshet/local';

/** Takes the arguments, returns the exit code. */
type Command = (args: readonly string[]) => Promise<number>;

/** Each is loaded only when it is asked for. */
const commands: Readonly<Record<string, () => Promise<Command>>> = {
  up: async () => (await import('./up/command.ts')).up,
  demo: async () => (await import('./demo.ts')).demo,
  load: async () => (await import('./load/command.ts')).loadCommand,
  evaluate: async () => (await import('./evaluate/command.ts')).evaluate,
  topics: async () => (await import('./topics.ts')).topics,
  intake: async () => (await import('./intake/command.ts')).intakeCommand,
  import: async () => (await import('./import/command.ts')).importCommand,
  factorize: async () => (await import('./factorize/command.ts')).factorizeCommand,
  audit: async () => (await import('./audit/command.ts')).auditCommand,
  rebuild: async () => (await import('./rebuild/command.ts')).rebuildCommand,
  snapshot: async () => (await import('./snapshot/command.ts')).snapshotCommand,
  restore: async () => (await import('./restore/command.ts')).restoreCommand,
  sources: async () => (await import('./sources/command.ts')).sourcesCommand,
  'dead-letters': async () => (await import('./dead-letters/command.ts')).deadLetters,
  asyncapi: async () => (await import('./asyncapi/command.ts')).asyncapi,
  reference: async () => (await import('./reference.ts')).reference,
};

const HELP = `freshet COMMAND [options]

  up           run Kafka, Redis and all services on this machine, with a demo stream
  demo         stream generated ratings to a running system
  load         send made-up ratings and requests at a given rate, and see how late they are learnt
  evaluate     measure on a file of ratings how good and how fast the model is, and what lag costs
  topics       create the topics that are missing, and list what each holds
  intake       show how the settings read the records of a file or a topic; learns nothing
  import       send the ratings of a file to a topic; continues an interrupted import
  factorize    learn all ratings in the store again, at once; updaters must be stopped
  audit        check that everything the model holds is consistent; changes nothing
  rebuild      empty the store and learn everything again from RATINGS_TOPICS
  snapshot     write everything that the store holds to a file, while the services run
  restore      bring the model back from a snapshot; services must be stopped
  sources      list positions and lag of every partition; accept the loss of records
  dead-letters list the records that could not be applied, or send them again
  asyncapi     print the AsyncAPI document of the topics that others share with Freshet
  reference    print all settings, topics and metrics (docs/reference.md)

freshet COMMAND --help explains a command and its options; freshet --version prints the version.
Settings are environment variables: freshet reference lists them.
`;

const version = (): string =>
  JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')).version;

const given = process.argv.slice(2).map((arg) => (arg === '-h' ? '--help' : arg));
const [name = '--help', ...args] = given;
if (name === '--version') {
  process.stdout.write(`${version()}\n`);
  process.exit(0);
}
const load = Object.hasOwn(commands, name) ? commands[name] : undefined;
if (load === undefined) {
  const asked = name === '--help' || name === 'help';
  (asked ? process.stdout : process.stderr).write(
    asked ? HELP : `freshet: no command "${name}"\n\n${HELP}`,
  );
  process.exit(asked ? 0 : 2);
}
try {
  const command = await load();
  process.exitCode = await command(args);
} catch (error) {
  // Not thrown again: a command may have taken over what is done with uncaught errors.
  const { message, stack = message } = error as Error;
  process.stderr.write(`freshet: ${error instanceof SetupProblem ? message : stack}\n`);
  process.exitCode = 1;
}
