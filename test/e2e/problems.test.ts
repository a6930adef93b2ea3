/**
 * Whatever keeps a command from starting, it prints one line that says what to do, and exits with a
 * code other than 0.
 */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { basename, delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type AnyServiceName, allServiceNames, freePort, stepsTo } from '@freshet/local';
import { Command, System, type Variables } from '@freshet/testkit';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { kafkaJars } from '../../packages/local/src/provision.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const MAIN = join(root, 'packages/cli/dist/main.js');
const temporary = mkdtempSync(join(tmpdir(), 'freshet-problems-'));
const commands: Command[] = [];
const mounted: string[] = [];
let jars: string;
let taken: Server;
let takenPort: number;

function run(args: readonly string[], variables: Variables = {}, folder = root): Command {
  const command = new Command(process.execPath, args, variables, folder);
  commands.push(command);
  return command;
}

const up = (variables: Variables, ...args: string[]): Command =>
  run([MAIN, 'up', ...args], { XDG_CACHE_HOME: emptyFolder(), ...variables });
const service = (name: AnyServiceName, variables: Variables): Command =>
  run([join(root, 'services', name, 'dist', 'main.js')], variables);

function emptyFolder(): string {
  return mkdtempSync(join(temporary, 'folder-'));
}

/** A cache folder in which Kafka's jars are already. */
function cacheWithJars(cache = emptyFolder()): string {
  mkdirSync(join(cache, 'freshet'), { recursive: true });
  symlinkSync(jars, join(cache, 'freshet', basename(jars)));
  return cache;
}

/** A PATH on which only the named programs are found. */
function pathOf(...programs: string[]): string {
  const folder = emptyFolder();
  for (const name of programs) {
    const places = String(process.env.PATH).split(delimiter);
    const found = places.map((place) => join(place, name)).find((path) => existsSync(path));
    if (found === undefined) throw new Error(`${name} is not on this machine`);
    symlinkSync(found, join(folder, name));
  }
  return folder;
}

async function expectOneLine(command: Command, line: RegExp, code = 1): Promise<void> {
  const exit = await command.exited;
  expect(command.complaints).toEqual([expect.stringMatching(line)]);
  expect(exit).toBe(code);
}

beforeAll(async () => {
  jars = await kafkaJars(stepsTo(() => {}));
  takenPort = await freePort();
  taken = createServer().listen(takenPort, '127.0.0.1');
});

afterAll(async () => {
  taken?.close();
  for (const command of commands) await command.stop();
  // Disks are mounted even if no test of theirs is among those that run.
  for (const folder of mounted) execFileSync('umount', ['-l', folder]);
  rmSync(temporary, { recursive: true, force: true });
});

describe.concurrent('a wrong setting', () => {
  const wrong = { MODEL: 'A b', FACTOR_COUNT: '0', REDIS_URL: 'hunter2' };
  const starts = {
    up: (variables: Variables) => up(variables),
    updater: (variables: Variables) => service('updater', variables),
    aggregator: (variables: Variables) => service('aggregator', variables),
    scorer: (variables: Variables) => service('scorer', variables),
  };

  it.each(Object.entries(starts))(
    'of %s is told by its name, with all others',
    async (_, start) => {
      const command = start(wrong);
      expect(await command.exited).toBe(2);
      expect(command.complaints).toEqual([
        expect.stringMatching(/^freshet: REDIS_URL must be redis:/),
        expect.stringMatching(/^freshet: MODEL must be .* not "A b"/),
        expect.stringMatching(/^freshet: FACTOR_COUNT must be .* not "0"/),
      ]);
      expect(command.complaints.join()).not.toContain('hunter2');
    },
  );

  it('on the command line is told too', async () => {
    await expectOneLine(up({}, '--rate', 'fast'), /^freshet: --rate must be .*--help/);
    await expectOneLine(up({}, '--quickly'), /^freshet: Unknown option '--quickly'.*--help/);
    await expectOneLine(run([MAIN, 'reference', '--quickly']), /^freshet reference: it takes no/);
  });

  it('is no reason to guess: a command that does not exist is told, and -h is --help', async () => {
    const nothing = run([MAIN, 'constructor']);
    expect(await nothing.exited).toBe(2);
    expect(nothing.complaints[0]).toBe('freshet: no command "constructor"');
    for (const name of ['load', 'reference', 'evaluate', 'up']) {
      const [help, short] = ['--help', '-h'].map((option) => run([MAIN, name, option]));
      expect([await help?.exited, await short?.exited]).toEqual([0, 0]);
      expect(short?.out).toBe(help?.out);
      expect(help?.out).toMatch(new RegExp(`^freshet ${name}`));
    }
  });
});

describe.concurrent('a program that is missing', () => {
  /** A PATH whose Java is this script. */
  function pathWithJava(script: string): string {
    const folder = emptyFolder();
    writeFileSync(join(folder, 'java'), `#!/bin/sh\n${script}\n`);
    chmodSync(join(folder, 'java'), 0o755);
    return `${folder}${delimiter}${pathOf('redis-server', 'sh')}`;
  }

  it('Java: says which, and the way around; a Mac has a java that only says so', async () => {
    const line = /^freshet: Kafka needs Java: install Java 17 .*KAFKA_BROKERS/;
    const stub = pathWithJava('echo "Unable to locate a Java Runtime." >&2; exit 1');
    await expectOneLine(up({ PATH: pathOf('redis-server') }), line);
    await expectOneLine(up({ PATH: stub }), line);
  });

  it.each([
    ['11.0.2', 11],
    ['1.8.0_202', 8],
  ])('Java of the right age, not %s', async (version, major) => {
    const PATH = pathWithJava(`echo 'openjdk version "${version}"' >&2`);
    const line = new RegExp(`^freshet: Kafka needs a newer Java than ${major}: install`);
    await expectOneLine(up({ PATH }), line);
  });

  it('Maven, when Kafka is not here yet', async () => {
    const line = /^freshet: Maven is needed once, to fetch Kafka: install it .*KAFKA_BROKERS/;
    await expectOneLine(up({ PATH: pathOf('java', 'redis-server') }), line);
  });

  it('redis-server, where it cannot be installed', async () => {
    const line = /^freshet: redis-server is missing: install it .*REDIS_URL/;
    const variables = { PATH: pathOf('java'), XDG_CACHE_HOME: cacheWithJars() };
    await expectOneLine(up(variables), line);
  });
});

describe.concurrent('no network', () => {
  const NOWHERE = 'http://127.0.0.1:1';

  it('for Maven', async () => {
    const home = emptyFolder();
    const mirror = `<mirror><id>none</id><mirrorOf>*</mirrorOf><url>${NOWHERE}</url></mirror>`;
    mkdirSync(join(home, '.m2'));
    writeFileSync(
      join(home, '.m2', 'settings.xml'),
      `<settings><mirrors>${mirror}</mirrors></settings>`,
    );
    const cache = emptyFolder();
    const command = up({ MAVEN_OPTS: `-Duser.home=${home}`, XDG_CACHE_HOME: cache });
    const line = /^freshet: Maven could not fetch Kafka: no network; connect.* behind a proxy/;
    await expectOneLine(command, line);
    expect(readdirSync(join(cache, 'freshet')).filter((name) => /^kafka/.test(name))).toEqual([]);
  });

  it('for the dependencies of a fresh clone', async () => {
    const clone = emptyFolder();
    for (const part of ['package.json', 'pnpm-lock.yaml', 'pnpm-workspace.yaml', 'deploy']) {
      cpSync(join(root, part), join(clone, part), { recursive: true });
    }
    const variables = {
      XDG_CACHE_HOME: emptyFolder(),
      npm_config_cache: emptyFolder(),
      npm_config_registry: NOWHERE,
      npm_config_fetch_retries: '0',
    };
    const command = run(['deploy/setup.mjs', 'start'], variables, clone);
    await command.exited;
    expect(command.complaints.filter((line) => !line.includes(' … failed'))).toEqual([
      expect.stringMatching(/^freshet: dependencies failed: packages cannot be downloaded/),
    ]);
    expect(await command.exited).toBe(1);
  });
});

describe('a step of the set-up that fails', () => {
  it('is told in one line; its pages of output go to a file in the clone', async () => {
    const clone = emptyFolder();
    for (const part of ['package.json', 'pnpm-lock.yaml', 'deploy']) {
      cpSync(join(root, part), join(clone, part), { recursive: true });
    }
    const lock = readFileSync(join(clone, 'pnpm-lock.yaml'));
    mkdirSync(join(clone, 'node_modules', '.bin'), { recursive: true });
    writeFileSync(
      join(clone, 'node_modules', '.freshet-installed'),
      createHash('sha256').update(lock).digest('hex'),
    );
    const tsc = join(clone, 'node_modules', '.bin', 'tsc');
    const complaint = 'a.ts(1,1): error TS1: wrong';
    writeFileSync(tsc, `#!/bin/sh\nfor n in 1 2 3 4 5; do echo '${complaint}'; done\nexit 1\n`);
    chmodSync(tsc, 0o755);
    const command = run(['deploy/setup.mjs', 'start'], {}, clone);
    await command.exited;
    expect(command.complaints.filter((line) => !line.includes(' … failed'))).toEqual([
      expect.stringMatching(/^freshet: build failed: a\.ts\(1,1\): .* in \.setup\/build\.log/),
    ]);
    expect(await command.exited).toBe(1);
    const log = readFileSync(join(clone, '.setup', 'build.log'), 'utf8');
    expect(log.split(complaint)).toHaveLength(6);
  });
});

describe('a disk', () => {
  const isRoot = process.getuid?.() === 0;

  /** A folder that is a disk of its own; undefined where this user or container may not mount. */
  function smallDisk(megabytes: number): string | undefined {
    const folder = emptyFolder();
    try {
      const args = ['-t', 'tmpfs', '-o', `size=${megabytes}m`, 'tmpfs', folder];
      execFileSync('mount', args, { stdio: 'ignore' });
    } catch {
      return undefined;
    }
    mounted.push(folder);
    return folder;
  }
  const small = isRoot ? smallDisk(16) : undefined;
  const enough = isRoot ? smallDisk(300) : undefined;

  it.runIf(small)('that is full at the start is told before anything runs', async () => {
    const command = up({ XDG_CACHE_HOME: cacheWithJars(small) });
    await expectOneLine(command, /^freshet: the disk of .* is full \(\d+ MB left\): free 100 MB/);
  });

  it.runIf(enough)('that fills while everything runs ends it, and says why', async () => {
    const XDG_CACHE_HOME = cacheWithJars(enough);
    const ports = { SCORER_PORT: '0', UPDATER_ADMIN_PORT: '0' };
    const command = up({ XDG_CACHE_HOME, ...ports }, '--rate', '2000');
    await command.said(/ready after/);
    const [block, filler] = [Buffer.alloc(1 << 20), join(XDG_CACHE_HOME, 'filler')];
    const fill = () => {
      for (;;) writeFileSync(filler, block, { flag: 'a' });
    };
    expect(fill).toThrow('ENOSPC');
    await expectOneLine(
      command,
      /^freshet: (Kafka|Redis|the demo) ended: the disk is full; free some space/,
    );
  });

  it('on which a file is in the way of the cache folder', async () => {
    const file = join(emptyFolder(), 'file');
    writeFileSync(file, '');
    await expectOneLine(up({ XDG_CACHE_HOME: file }), /^freshet: cannot write .*XDG_CACHE_HOME/);
  });
});

describe('a server that cannot be reached', () => {
  let system: System;
  beforeAll(async () => {
    system = await System.open();
  });
  afterAll(() => system?.close());

  it.concurrent.each(allServiceNames)('Kafka, by %s', async (name) => {
    const command = service(name, { ...system.environment, KAFKA_BROKERS: '127.0.0.1:1' });
    await expectOneLine(
      command,
      new RegExp(`^freshet: ${name}: cannot use Kafka at 127.0.0.1:1 \\(KAFKA_BROKERS\\)`),
    );
  });

  it('Redis, by a service', async () => {
    const REDIS_URL = 'redis://:hunter2@127.0.0.1:1';
    const command = service('aggregator', { ...system.environment, REDIS_URL });
    await expectOneLine(
      command,
      /^freshet: aggregator: cannot use Redis at 127.0.0.1:1 \(REDIS_URL\)/,
    );
    expect(command.complaints.join()).not.toContain('hunter2');
  });

  it('Kafka, by up', async () => {
    const command = up({ ...system.environment, KAFKA_BROKERS: '127.0.0.1:1' });
    await expectOneLine(command, /^freshet: \w+ ended: cannot use Kafka at .*KAFKA_BROKERS/);
  });

  it.concurrent.each(allServiceNames)(
    'a port in use: %s names the setting to change',
    async (name) => {
      const setting = `${name.toUpperCase()}_ADMIN_PORT`;
      const command = service(name, { ...system.environment, [setting]: String(takenPort) });
      const advice = `127.0.0.1:${takenPort} is in use: stop what uses it, or set ${setting} to another`;
      await expectOneLine(command, new RegExp(`^freshet: ${name}: ${advice}`));
    },
  );

  it('a port in use: the scorer names that of its API too', async () => {
    system.launch('aggregator');
    await system.ready('aggregator');
    const SCORER_PORT = String(takenPort);
    const command = service('scorer', { ...system.environment, SCORER_PORT });
    await expectOneLine(command, /^freshet: scorer: .* is in use: .* set SCORER_PORT to another/);
  });

  it('settings other than those of the data in the store', async () => {
    // The aggregator that runs since the test before has written the manifest.
    const command = service('aggregator', {
      ...system.environment,
      FACTOR_COUNT: '7',
      AGGREGATOR_ADMIN_PORT: '0',
    });
    await expectOneLine(
      command,
      /^freshet: aggregator: .*FACTOR_COUNT is 7, the store has 32.*MODEL/,
    );
  });
});
