/** CPU-seconds that one query costs this process, over a turn of 0.3 s. */
const TURN_SECONDS = 0.3;

export function cpuSecondsPerQuery(queriesPerRun: number, run: (nth: number) => void): number {
  const from = process.cpuUsage();
  let runs = 0;
  for (;;) {
    run(runs++);
    const { user, system } = process.cpuUsage(from);
    const seconds = (user + system) / 1e6;
    if (seconds > TURN_SECONDS) return seconds / (runs * queriesPerRun);
  }
}
