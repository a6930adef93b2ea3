/** Which port everything gets: the usual one, or the next free one if it is taken. */
import type { Settings } from '@freshet/config';
import { type AnyServiceName, freePort } from '@freshet/local';
import type { ClosingStack } from '@freshet/service';
import { claimPort } from './port-claim.ts';

const settingNames = [
  'SCORER_PORT',
  'UPDATER_ADMIN_PORT',
  'AGGREGATOR_ADMIN_PORT',
  'SCORER_ADMIN_PORT',
  'CONSOLE_PORT',
  'CONSOLE_ADMIN_PORT',
] as const;

export interface PortPlan {
  /** The ports as the settings that tell the services. */
  readonly settings: Readonly<Record<(typeof settingNames)[number], string>>;
  readonly admin: Readonly<Record<AnyServiceName, number>>;
  readonly scorer: number;
  readonly console: number;
  readonly kafka: number;
  readonly controller: number;
  readonly redis: number;
}

const usual = { kafka: 9092, controller: 9093, redis: 6379 } as const;

export async function planPorts(
  given: Settings,
  stack: Pick<ClosingStack, 'own'>,
): Promise<PortPlan> {
  const taken = new Set<number>();
  const choose = async (preferred: number): Promise<number> => {
    for (;;) {
      const port = await freePort(preferred, taken);
      taken.add(port);
      const release = claimPort(port);
      if (release === undefined) continue;
      stack.own({ close: async () => release() });
      return port;
    }
  };
  const scorer = await choose(given.SCORER_PORT);
  const page = await choose(given.CONSOLE_PORT);
  const admin = {
    updater: await choose(given.UPDATER_ADMIN_PORT),
    aggregator: await choose(given.AGGREGATOR_ADMIN_PORT),
    scorer: await choose(given.SCORER_ADMIN_PORT),
    console: await choose(given.CONSOLE_ADMIN_PORT),
  };
  return {
    settings: {
      SCORER_PORT: String(scorer),
      UPDATER_ADMIN_PORT: String(admin.updater),
      AGGREGATOR_ADMIN_PORT: String(admin.aggregator),
      SCORER_ADMIN_PORT: String(admin.scorer),
      CONSOLE_PORT: String(page),
      CONSOLE_ADMIN_PORT: String(admin.console),
    },
    admin,
    scorer,
    console: page,
    kafka: await choose(usual.kafka),
    controller: await choose(usual.controller),
    redis: await choose(usual.redis),
  };
}
