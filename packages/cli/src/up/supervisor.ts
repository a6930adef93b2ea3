/** Keeps the services running: one that dies is started again, the others never notice. */
import { type Child, isReady, type ServiceName, startService } from '@freshet/local';

export interface SupervisorOptions {
  readonly folder: string;
  readonly environment: Readonly<Record<string, string>>;
  readonly adminPorts: Readonly<Record<ServiceName, number>>;
  readonly tell: (line: string) => void;
  readonly started: (child: Child) => void;
}

const RESTART_WAIT_MS = 1_000;
const READY_LIMIT_MS = 60_000;

export class Supervisor {
  readonly #options: SupervisorOptions;
  readonly #children = new Map<ServiceName, Child>();
  #stopping = false;

  constructor(options: SupervisorOptions) {
    this.#options = options;
  }

  /** Starts the services at once and waits until each is ready; from then on they are kept running. */
  async start(names: readonly ServiceName[]): Promise<void> {
    for (const name of names) this.#launch(name);
    for (const [name, child] of this.#children) {
      await child.until(() => isReady(this.#options.adminPorts[name]), READY_LIMIT_MS);
    }
    for (const name of names) this.#keep(name);
  }

  async stop(): Promise<void> {
    this.#stopping = true;
    await Promise.all([...this.#children.values()].map((child) => child.stop()));
  }

  #launch(name: ServiceName): void {
    const { environment, folder, started } = this.#options;
    const child = startService(name, environment, folder);
    this.#children.set(name, child);
    started(child);
  }

  #keep(name: ServiceName): void {
    void this.#children.get(name)?.exited.then(async (code) => {
      if (this.#stopping) return;
      this.#options.tell(`${name} ended (${code ?? 'killed'}): starting it again`);
      await new Promise((resolve) => setTimeout(resolve, RESTART_WAIT_MS));
      if (this.#stopping) return;
      this.#launch(name);
      this.#keep(name);
    });
  }
}
