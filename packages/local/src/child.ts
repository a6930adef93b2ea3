/** A process that this one started. Its output goes to a file, and it is stopped by its own id. */
import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, fstatSync, mkdirSync, openSync, readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { childEnvironment } from '@freshet/config';
import { causeOf, DISK_FULL, isFull } from './cause.ts';
import { SetupProblem } from './steps.ts';

interface ChildOptions {
  readonly name: string;
  readonly command: string;
  readonly args: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  readonly logFile: string;
  readonly folder?: string;
  /** Called at once, so that the child can be stopped even before it is ready. */
  readonly spawned?: Spawned | undefined;
}

export type Spawned = (child: Child) => void;

const TERM_LIMIT_MS = 12_000;
const LOG_TAIL_LINES = 15;

export class Child {
  readonly exited: Promise<number | null>;
  #running = true;

  private constructor(
    readonly name: string,
    readonly logFile: string,
    readonly process: ChildProcess,
    private readonly logStart: number,
  ) {
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
      // The child has a process group of its own: Ctrl-C reaches only the parent, which stops its
      // children in order.
      detached: true,
      stdio: ['ignore', output, output],
      env: childEnvironment(options.environment ?? {}),
      ...(options.folder === undefined ? {} : { cwd: options.folder }),
    });
    closeSync(output);
    const started = new Child(options.name, options.logFile, child, logStart);
    options.spawned?.(started);
    return started;
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

  /** Sends SIGTERM, and SIGKILL if the process has not ended in time. */
  async stop(limitMs = TERM_LIMIT_MS): Promise<void> {
    if (!this.#running) return;
    this.process.kill('SIGTERM');
    // A process that was halted by SIGSTOP handles no other signal until it continues.
    this.process.kill('SIGCONT');
    const insist = setTimeout(() => this.process.kill('SIGKILL'), limitMs);
    await this.exited;
    clearTimeout(insist);
  }

  /** The last lines that this run of the process wrote. */
  lastWords(): string {
    const words = readFileSync(this.logFile).subarray(this.logStart).toString('utf8');
    return words.trimEnd().split('\n').slice(-LOG_TAIL_LINES).join('\n');
  }

  /**
   * Waits until `ready` holds; throws if the process ends before that or takes too long, and says
   * what it waits for if that is known.
   */
  async until(
    ready: () => Promise<boolean>,
    limitMs: number,
    waitingFor: () => string = () => '',
  ): Promise<void> {
    const deadline = Date.now() + limitMs;
    while (!(await ready())) {
      if (!this.#running) throw new SetupProblem(`${this.name} ended: ${this.diagnosis()}`);
      if (Date.now() > deadline) {
        const reason = waitingFor() ? `it waits for ${waitingFor()}` : `see ${this.logFile}`;
        throw new SetupProblem(`${this.name} was not ready in ${limitMs / 1000} s: ${reason}`);
      }
      await pause(50);
    }
  }

  /** Why the process ended, in one line, as far as its log tells. */
  diagnosis(): string {
    // The disk is checked first: if it is full, the last lines may not have reached the file.
    if (isFull(dirname(this.logFile))) return DISK_FULL;
    const words = this.lastWords();
    const plain = /^freshet: (?:\w+: )?(.*)$/m.exec(words)?.[1];
    return plain ?? `${causeOf(words)} (more in ${this.logFile})`;
  }
}
