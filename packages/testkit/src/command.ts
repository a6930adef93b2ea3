/** A command as a person runs it: a process of its own, its output read as it comes. */
import { type ChildProcess, spawn } from 'node:child_process';
import { childEnvironment } from '@freshet/config';
import { eventually } from './eventually.ts';

/** Over the environment of the tests; undefined takes a variable away. */
export type Variables = Readonly<Record<string, string | undefined>>;

const TERM_LIMIT_MS = 20_000;

export class Command {
  readonly #process: ChildProcess;
  /** The exit code; null when a signal ended it. */
  readonly exited: Promise<number | null>;
  #running = true;
  #out = '';
  #err = '';

  constructor(program: string, args: readonly string[], variables: Variables = {}, folder = '.') {
    const env = { ...childEnvironment({}), ...variables };
    this.#process = spawn(program, args, { cwd: folder, env, stdio: ['ignore', 'pipe', 'pipe'] });
    this.#process.stdout?.setEncoding('utf8').on('data', (text: string) => {
      this.#out += text;
    });
    this.#process.stderr?.setEncoding('utf8').on('data', (text: string) => {
      this.#err += text;
    });
    this.exited = new Promise((resolve, reject) => {
      this.#process.once('error', reject).once('close', (code) => {
        this.#running = false;
        resolve(code);
      });
    });
  }

  get pid(): number {
    if (this.#process.pid === undefined) throw new Error('it was never started');
    return this.#process.pid;
  }

  get out(): string {
    return this.#out;
  }

  get err(): string {
    return this.#err;
  }

  /** What it said to a person on standard error, line by line; log lines are JSON and left out. */
  get complaints(): string[] {
    return this.#err.split('\n').filter((line) => line !== '' && !line.startsWith('{'));
  }

  signal(name: NodeJS.Signals): void {
    this.#process.kill(name);
  }

  /** Waits until it has said something that matches. */
  async said(pattern: RegExp, limitMs = 60_000): Promise<RegExpExecArray> {
    return eventually(
      `${pattern} in what it says`,
      async () => {
        const found = pattern.exec(this.#out);
        if (found === null && !this.#running) throw new Error(`it ended: ${this.#out}${this.#err}`);
        return found ?? undefined;
      },
      limitMs,
    );
  }

  async kill(): Promise<void> {
    this.#process.kill('SIGKILL');
    await this.exited;
  }

  /** For the end of a test, whatever became of it: asks, then insists. */
  async stop(): Promise<void> {
    this.#process.kill('SIGTERM');
    const insist = setTimeout(() => this.#process.kill('SIGKILL'), TERM_LIMIT_MS);
    await this.exited;
    clearTimeout(insist);
  }
}
