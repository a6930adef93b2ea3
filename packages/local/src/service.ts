/** Runs Freshet's services as processes, from their build. */
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Child } from './child.ts';

/** The services that learn and answer. */
export const serviceNames = ['aggregator', 'updater', 'scorer'] as const;
/** These, and the console, which only reads. */
export const allServiceNames = [...serviceNames, 'console'] as const;
export type AnyServiceName = (typeof allServiceNames)[number];

/** Only a process that hangs takes so long: one that ends is noticed at once. */
const READY_LIMIT_MS = 180_000;
/** The folder of this build. */
const THIS = fileURLToPath(new URL('../../..', import.meta.url));

export interface ServicePlace {
  /** Where the log goes. */
  readonly folder: string;
  /** The folder of another build of Freshet to take the service from. */
  readonly build?: string | undefined;
}

export function startService(
  name: AnyServiceName,
  environment: Readonly<Record<string, string>>,
  { folder, build = THIS }: ServicePlace,
): Child {
  return Child.start({
    name,
    command: process.execPath,
    args: ['--enable-source-maps', join(build, 'services', name, 'dist', 'main.js')],
    environment,
    logFile: join(folder, `${name}.log`),
  });
}

/** A service that waits for the same for so long is not only starting. */
const TELL_AFTER_MS = 10_000;

/** `onWaiting`: called with what the service waits for, such as a topic that does not exist. */
export function untilReady(
  child: Child,
  adminPort: number,
  limitMs = READY_LIMIT_MS,
  onWaiting: (reason: string) => void = () => {},
): Promise<void> {
  let [reason, told] = ['', ''];
  let since = Date.now();
  const isReady = async () => {
    const answer = await fetch(`http://127.0.0.1:${adminPort}/readyz`).catch(() => undefined);
    if (answer?.ok) return true;
    const before = reason;
    reason = (await answer?.text())?.trim() ?? '';
    if (reason !== before) since = Date.now();
    if (reason === '' || reason === told || Date.now() - since < TELL_AFTER_MS) return false;
    told = reason;
    onWaiting(reason);
    return false;
  };
  return child.until(isReady, limitMs, () => reason);
}
