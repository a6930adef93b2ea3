import { describe, expect, it } from 'vitest';
import { registry } from './metrics.ts';

describe('every metric', () => {
  it('carries our prefix, base units, and a question as its help', async () => {
    const found = await registry.getMetricsAsJSON();
    expect(found.length).toBeGreaterThan(10);
    for (const { name, help, type } of found) {
      expect(name).toMatch(/^freshet_[a-z_]+$/);
      expect(name).not.toMatch(/_(ms|millis|kb|mb|minutes)(_|$)/);
      expect(help, name).toMatch(/\?$/);
      if (String(type) === 'counter') expect(name).toMatch(/_total$/);
      if (String(type) === 'histogram') expect(name).toMatch(/_seconds$/);
    }
  });
});
