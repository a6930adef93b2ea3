/** A process that this one started: its output goes to a file, it is stopped by its own id. */
import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, fstatSync, mkdirSync, openSync, readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { childEnvironment } from '@freshet/config';
import { SetupProblem } from './steps.ts';

export interface ChildOptions {
  readonly name: string;
  readonly command: string;
  readonly args: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  readonly logFile: string;
  readonly folder?: string;
}

const TERM_LIMIT_MS = 12_000;
const LOG_TAIL_LINES = 15;

export class Child {
  readonly exited: Promise<number | null>;
  #running = true;
  readonly #logStart: number;

  private constructor(
    readonly name: string,
    readonly logFile: string,
    readonly process: ChildProcess,
    logStart: number,
  ) {
    this.#logStart = logStart;
    this.exited = new Promise((resolve) => {
      process.once('error', () => resolve(null));
      process.once('exit', (code) => resolve(code));
    });
    void this.exited.then(() => {
      this.#running = false;
    });
  }

  static start(options: ChildOptions): Child {
    mkdirSync(dirname(options.logFile), { recursive: true });
    const output = openSync(options.logFile, 'a');
    const logStart = fstatSync(output).size;
    const child = spawn(options.command, options.args, {
      // A group of its own: Ctrl-C reaches only the parent, which stops its children in order.
      detached: true,
      stdio: ['ignore', output, output],
      env: childEnvironment(options.environment ?? {}),
      ...(options.folder === undefined ? {} : { cwd: options.folder }),
    });
    closeSync(output);
    return new Child(options.name, options.logFile, child, logStart);
  }

  get pid(): number | undefined {
    return this.process.pid;
  }

  get running(): boolean {
    return this.#running;
  }

  signal(name: NodeJS.Signals): void {
    this.process.kill(name);
  }

  /** Asks it to end; insists if it does not. */
  async stop(): Promise<void> {
    if (!this.#running) return;
    this.process.kill('SIGTERM');
    const insist = setTimeout(() => this.process.kill('SIGKILL'), TERM_LIMIT_MS);
    await this.exited;
    clearTimeout(insist);
  }

  /** What this run of it wrote last. */
  lastWords(): string {
    const words = readFileSync(this.logFile).subarray(this.#logStart).toString('utf8');
    return words.trimEnd().split('\n').slice(-LOG_TAIL_LINES).join('\n');
  }

  /** Waits until `ready` holds, or says why the process ended or took too long. */
  async until(ready: () => Promise<boolean>, limitMs: number): Promise<void> {
    const deadline = Date.now() + limitMs;
    while (!(await ready())) {
      if (!this.#running) throw new SetupProblem(`${this.name} ended: ${this.diagnosis()}`);
      if (Date.now() > deadline) {
        throw new SetupProblem(
          `${this.name} was not ready in ${limitMs / 1000} s: see ${this.logFile}`,
        );
      }
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }

  /** Why it ended, as far as it said so. */
  diagnosis(): string {
    const words = this.lastWords();
    if (/No space left on device/i.test(words)) return 'the disk is full; free some space';
    const fatal = /"level":60.*"msg":"((?:[^"\\\\]|\\\\.)*)"}$/m.exec(words)?.[1];
    return fatal ?? `see ${this.logFile}\n${words}`;
  }
}
