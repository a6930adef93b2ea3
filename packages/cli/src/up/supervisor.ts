/** Keeps the services running: one that dies is started again, the others never notice. */
import { setTimeout as pause } from 'node:timers/promises';
import {
  type AnyServiceName,
  type Child,
  isReady,
  type Spawned,
  startService,
} from '@freshet/local';

interface SupervisorOptions {
  readonly folder: string;
  readonly environment: Readonly<Record<string, string>>;
  readonly adminPorts: Readonly<Record<AnyServiceName, number>>;
  readonly tell: (line: string) => void;
  readonly spawned: Spawned;
  /** Once aborted, nothing is started again. */
  readonly signal: AbortSignal;
}

const RESTART_WAIT_MS = 1_000;
const READY_LIMIT_MS = 60_000;

export class Supervisor {
  readonly #options: SupervisorOptions;
  readonly #children = new Map<AnyServiceName, Child>();

  constructor(options: SupervisorOptions) {
    this.#options = options;
  }

  /** Starts the services at once and waits until each is ready; from then on they are kept running. */
  async start(names: readonly AnyServiceName[]): Promise<void> {
    for (const name of names) this.#launch(name);
    const ready = [...this.#children].map(([name, child]) =>
      child.until(() => isReady(this.#options.adminPorts[name]), READY_LIMIT_MS),
    );
    await Promise.all(ready);
    for (const name of names) this.#keep(name);
  }

  async stop(limitMs?: number): Promise<void> {
    await Promise.all([...this.#children.values()].map((child) => child.stop(limitMs)));
  }

  #launch(name: AnyServiceName): void {
    const { environment, folder, spawned } = this.#options;
    const child = startService(name, environment, folder);
    this.#children.set(name, child);
    spawned(child);
  }

  #keep(name: AnyServiceName): void {
    const child = this.#children.get(name);
    void child?.exited.then(async (code) => {
      if (this.#options.signal.aborted) return;
      const reason = code === null ? 'was killed' : `ended: ${child.diagnosis()}`;
      this.#options.tell(`${name} ${reason}; starting it again`);
      await pause(RESTART_WAIT_MS);
      if (this.#options.signal.aborted) return;
      this.#launch(name);
      this.#keep(name);
    });
  }
}
