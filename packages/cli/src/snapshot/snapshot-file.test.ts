import { randomBytes } from 'node:crypto';
import {
  existsSync,
  lstatSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { CannotWork } from '../operator-command.ts';
import { type Block, readBlocks, SnapshotWriter } from './snapshot-file.ts';

type BlockKind = Block['kind'];

const folder = mkdtempSync(join(tmpdir(), 'freshet-snapshot-'));
afterAll(() => rmSync(folder, { recursive: true }));

const blocks: [BlockKind, Buffer][] = [
  ['model', Buffer.from('{"model":"films"}')],
  ['shard', Buffer.alloc(0)],
  ['entities', randomBytes(5_000)],
  ['entities', Buffer.alloc(100_000, 'a')],
];

async function written(): Promise<Buffer> {
  const path = join(folder, 'whole');
  const writer = await SnapshotWriter.create(path);
  for (const [kind, content] of blocks) await writer.write(kind, content);
  await writer.finish();
  return readFileSync(path);
}

async function readAll(bytes: Uint8Array): Promise<[BlockKind, Buffer][]> {
  const path = join(folder, 'read');
  writeFileSync(path, bytes);
  const found: [BlockKind, Buffer][] = [];
  for await (const { kind, content } of readBlocks(path)) found.push([kind, content]);
  return found;
}

describe('the file of a snapshot', () => {
  it('gives back its blocks in order', async () => {
    expect(await readAll(await written())).toEqual(blocks);
  });

  it('has its name only when it is whole, and nobody else may read it', async () => {
    const path = join(folder, 'unfinished');
    const writer = await SnapshotWriter.create(path);
    await writer.write('model', Buffer.from('{}'));
    expect(existsSync(path)).toBe(false);
    await writer.discard();
    expect(readdirSync(folder).filter((name) => name.startsWith('unfinished'))).toEqual([]);
  });

  it('replaces the file that a link leads to, and never the link', async () => {
    const [link, nowhere] = [join(folder, 'link'), join(folder, 'link-to-nowhere')];
    writeFileSync(join(folder, 'linked'), 'the one before');
    symlinkSync('linked', link);
    const writer = await SnapshotWriter.create(link);
    await writer.finish();
    expect(lstatSync(link).isSymbolicLink()).toBe(true);
    expect(readFileSync(join(folder, 'linked')).toString()).toMatch(/^freshet snapshot/);
    symlinkSync('nowhere', nowhere);
    await expect(SnapshotWriter.create(nowhere)).rejects.toThrow(/is not a regular file/);
  });

  it('is not read from what can be read only once, though it may be whole', async () => {
    for (const path of ['/dev/null', folder]) {
      await expect(readBlocks(path).next()).rejects.toThrow(/not a regular file: FILE is read twi/);
    }
  });

  it('is refused if it was cut off, wherever that was', async () => {
    const bytes = await written();
    for (let length = 33; length < bytes.length; length += 97) {
      await expect(readAll(bytes.subarray(0, length))).rejects.toThrow(/is cut off at byte \d+/);
    }
    await expect(readAll(bytes.subarray(0, bytes.length - 1))).rejects.toThrow(/is cut off/);
  });

  it('is refused if any bit was changed, or something was added', async () => {
    const bytes = await written();
    for (let at = 0; at < bytes.length; at += at < 200 ? 1 : 53) {
      const changed = Buffer.from(bytes);
      changed[at] = (changed[at] as number) ^ (1 << (at % 8));
      await expect(readAll(changed)).rejects.toThrow(CannotWork);
    }
    await expect(readAll(Buffer.concat([bytes, Buffer.of(0)]))).rejects.toThrow(/corrupt/);
  });

  it('is refused if a block is missing, although each block that is left is whole', async () => {
    const bytes = await written();
    const second = 32 + 36 + bytes.readUInt32LE(32);
    const third = second + 36 + bytes.readUInt32LE(second);
    const without = Buffer.concat([bytes.subarray(0, second), bytes.subarray(third)]);
    await expect(readAll(without)).rejects.toThrow(/is corrupt at byte/);
  });

  it('is refused if it is something else, or of a newer version', async () => {
    await expect(readAll(Buffer.alloc(0))).rejects.toThrow(/is not a snapshot of Freshet/);
    await expect(readAll(randomBytes(500))).rejects.toThrow(/is not a snapshot of Freshet/);
    const newer = await written();
    newer.write('freshet snapshot 12', 0);
    await expect(readAll(newer)).rejects.toThrow(/has format 12.*reads up to 1: update Freshet/);
  });
});
