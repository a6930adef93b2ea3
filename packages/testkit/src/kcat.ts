/** Runs kcat, which stands for every client of Kafka that is not ours. Returns what it prints. */
import { execFile } from 'node:child_process';

export function kcat(brokers: string, args: readonly string[], input = ''): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = execFile('kcat', ['-b', brokers, ...args], (error, stdout) => {
      if (error) reject(error);
      else resolve(stdout);
    });
    // It may end without having read its input, as after -L; its exit code says whether it failed.
    child.stdin?.on('error', () => {}).end(input);
  });
}

/** Sends records as JSON, by the key of each. */
export async function kcatProduce(
  brokers: string,
  topic: string,
  records: readonly (readonly [key: string, value: object])[],
  options: readonly string[] = [],
): Promise<void> {
  const lines = records.map(([key, value]) => `${key}\t${JSON.stringify(value)}\n`);
  await kcat(brokers, ['-P', '-t', topic, '-K', '\t', ...options], lines.join(''));
}
