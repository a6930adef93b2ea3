import { describe, expect, it } from 'vitest';
import { asksForLoopback, isLoopback } from './loopback.ts';

describe('a request that is addressed to loopback', () => {
  const asks = (...hosts: string[]) => asksForLoopback(hosts.flatMap((host) => ['Host', host]));

  it('names localhost, 127.x.x.x or [::1], with any port or none', () => {
    for (const name of ['localhost', 'LocalHost', '127.0.0.1', '127.8.9.250', '[::1]']) {
      for (const port of ['', ':', ':80', ':65535']) expect(asks(name + port), name).toBe(true);
    }
    for (const host of ['localhost.', 'localhost.:8080', '127.0.0.1.:8080']) {
      expect(asks(host), host).toBe(true);
    }
  });

  it('names nothing else, however much that looks like loopback', () => {
    const others = [
      'evil.example',
      'localhost.evil.example',
      'evil-localhost',
      '127.0.0.1.evil.example',
      '127.0.0.1.nip.io:8080',
      '127.0.0.256',
      '127.1',
      '128.0.0.1',
      '0.0.0.0',
      '[::]',
      '[::2]:80',
      '::1',
      '[localhost]',
      '[127.0.0.1]',
      'localhost..',
      'localhost:http',
      'localhost:80:80',
      'localhost:123456',
      'user@localhost',
      'localhost/',
      'localhost, evil.example',
      ' ',
      '',
    ];
    for (const host of others) expect(asks(host), host).toBe(false);
  });

  it('has a Host header, and only one', () => {
    expect(asksForLoopback(['Accept', 'localhost'])).toBe(false);
    expect(asks('localhost', 'evil.example')).toBe(false);
    expect(asks('localhost', 'localhost')).toBe(false);
    expect(asksForLoopback(['Accept', '*/*', 'hOsT', 'localhost'])).toBe(true);
  });
});

it('an address is loopback by the same rule', () => {
  for (const host of ['localhost', '127.0.0.1', '127.1.2.3', '::1']) {
    expect(isLoopback(host), host).toBe(true);
  }
  for (const host of ['', '0.0.0.0', '::', '10.0.0.1', 'example.org']) {
    expect(isLoopback(host), host).toBe(false);
  }
});
