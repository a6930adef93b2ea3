/** A command as a user runs it: a process of its own whose output is collected. */
import { type ChildProcess, spawn } from 'node:child_process';
import { childEnvironment } from '@freshet/config';
import { eventually } from './eventually.ts';

/** Override the environment of the tests; undefined removes a variable. */
export type Variables = Readonly<Record<string, string | undefined>>;

const TERM_LIMIT_MS = 20_000;

export class Command {
  readonly #process: ChildProcess;
  /** The exit code; null if a signal ended the process. */
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
    if (this.#process.pid === undefined) throw new Error('the command was not started');
    return this.#process.pid;
  }

  get out(): string {
    return this.#out;
  }

  get err(): string {
    return this.#err;
  }

  /** The lines on standard error without the log lines, which are JSON. */
  get complaints(): string[] {
    return this.#err.split('\n').filter((line) => line !== '' && !line.startsWith('{'));
  }

  signal(name: NodeJS.Signals): void {
    this.#process.kill(name);
  }

  /** Waits until its output matches. */
  async said(pattern: RegExp, limitMs = 180_000): Promise<RegExpExecArray> {
    return eventually(
      `${pattern} in the output`,
      async () => {
        const found = pattern.exec(this.#out);
        if (found === null && !this.#running)
          throw new Error(`the command ended: ${this.#out}${this.#err}`);
        return found ?? undefined;
      },
      limitMs,
    );
  }

  async kill(): Promise<void> {
    this.#process.kill('SIGKILL');
    await this.exited;
  }

  /** Sends SIGTERM, and SIGKILL if the process has not ended in time. */
  async stop(): Promise<void> {
    this.#process.kill('SIGTERM');
    const insist = setTimeout(() => this.#process.kill('SIGKILL'), TERM_LIMIT_MS);
    await this.exited;
    clearTimeout(insist);
  }
}
