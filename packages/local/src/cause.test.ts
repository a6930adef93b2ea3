import { describe, expect, it } from 'vitest';
import { asSetupProblem, causeOf, explained } from './cause.ts';
import { SetupProblem } from './steps.ts';

describe('the cause of a failure', () => {
  it.each([
    ['npm', 'npm error code ENOSPC\nnpm error ENOSPC: no space left on device, write'],
    ['Java', 'java.io.IOException: No space left on device\n\tat sun.nio.ch'],
  ])('is a full disk when %s says so', (_, output) => {
    expect(causeOf(output)).toBe('the disk is full; free some space');
  });

  it.each([
    ['Maven', '[ERROR] Could not transfer artifact org.apache: Connection refused'],
    ['apt-get', "Err:1 Temporary failure resolving 'packages'"],
    ['Java', 'java.net.UnknownHostException: repo: Unknown host repo'],
  ])('is the network when %s says so', (_, output) => {
    expect(causeOf(output)).toMatch(/^no network; connect/);
  });

  it('is otherwise the line that speaks of an error, without colours', () => {
    const output = '\n[INFO] busy\n\u001b[1m[ERROR]\u001b[0m the pom is not there\n at x\n at y\n';
    expect(causeOf(output)).toBe('[ERROR] the pom is not there');
    expect(causeOf('  \nexit 3\n')).toBe('exit 3');
    expect(causeOf('\n')).toBe('no reason given');
  });

  it('is told of a tool together with what the tool was for', async () => {
    const failed = Promise.reject(
      Object.assign(new Error('x'), { stderr: 'getaddrinfo ENOTFOUND' }),
    );
    const told = explained('Maven could not fetch Kafka', failed, '; or by a proxy');
    await expect(told).rejects.toThrow(SetupProblem);
    await expect(told).rejects.toThrow(
      /^Maven could not fetch Kafka: no network;.*; or by a proxy$/,
    );
  });
});

describe('what the system refused', () => {
  it('becomes a problem that names the path and what to do', () => {
    const refused = Object.assign(new Error('x'), { code: 'EACCES', path: '/cache/freshet' });
    const problem = asSetupProblem(refused);
    expect(problem).toBeInstanceOf(SetupProblem);
    expect(String(problem)).toMatch(/cannot write \/cache\/freshet: .* XDG_CACHE_HOME/);
  });

  it('stays what it is when nobody but a programmer can help', () => {
    for (const bug of [new TypeError('a bug'), Object.assign(new Error(), { code: 'EPIPE' }), 7]) {
      expect(asSetupProblem(bug)).toBe(bug);
    }
  });
});
