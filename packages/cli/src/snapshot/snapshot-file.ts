/**
 * The file of a snapshot. It begins with a line that names the format. Blocks follow, each with its
 * length, a checksum and its gzipped content. A checksum covers the block and the checksum of the
 * block before, so that of the last block covers the whole file: no block can be missing, swapped
 * or changed. The last block says that it is the last.
 */
import { createHash, randomBytes } from 'node:crypto';
import {
  type FileHandle,
  lstat,
  open,
  readdir,
  realpath,
  rename,
  rm,
  stat,
} from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { gunzip, gzipSync } from 'node:zlib';
import { CannotWork } from '../operator-command.ts';

/** Increases when blocks change their meaning. A version of Freshet reads all formats before. */
const FORMAT = 1;
const NAME = 'freshet snapshot';
/** The first line is padded to this length. */
const FIRST_LINE_BYTES = 32;
const LENGTH_BYTES = 4;
const CHECKSUM_BYTES = 32;
/** Above every block that a snapshot writes: 1 MB, or one user with a row of millions. */
const BLOCK_LIMIT = 256 << 20;
/** The fastest level: vectors hardly become smaller with more. */
const LEVEL = 1;
/** The end of the temporary name, which is random: two snapshots must not write to one file. */
const PART = /^(\.[0-9a-f]{8})?\.part$/;
/** A file that has not grown for so long is left over from a process that was killed. */
const ABANDONED_MS = 3_600_000;

const decompress = promisify(gunzip);

type BlockKind = 'model' | 'shard' | 'entities' | 'end';
const kinds: readonly BlockKind[] = ['model', 'shard', 'entities', 'end'];

export interface Block {
  readonly kind: BlockKind;
  readonly content: Buffer;
  /** The part of the file that was read up to and with this block. */
  readonly share: number;
}

/** Writes to a temporary name beside the file, which gets its own name when it is whole. */
export class SnapshotWriter {
  #checksum: Buffer;
  #bytes = 0;

  private constructor(
    readonly path: string,
    readonly part: string,
    readonly handle: FileHandle,
    firstLine: Buffer,
  ) {
    this.#checksum = checksumOf(firstLine);
  }

  static async create(given: string): Promise<SnapshotWriter> {
    // The rename at the end would replace a link instead of the file that it leads to.
    const path = await realpath(given).catch(() => given);
    await requireReplaceable(path);
    await removeAbandoned(path);
    const part = `${path}.${randomBytes(4).toString('hex')}.part`;
    const handle = await open(part, 'wx', 0o600);
    const firstLine = Buffer.from(`${`${NAME} ${FORMAT}`.padEnd(FIRST_LINE_BYTES - 1)}\n`);
    const writer = new SnapshotWriter(path, part, handle, firstLine);
    await writer.#append(firstLine);
    return writer;
  }

  get bytes(): number {
    return this.#bytes;
  }

  async write(kind: BlockKind, content: Buffer): Promise<void> {
    // Not in another thread: those have a priority of their own, which nothing here can lower.
    const packed = gzipSync(Buffer.concat([Buffer.of(kinds.indexOf(kind)), content]), {
      level: LEVEL,
    });
    const length = Buffer.alloc(LENGTH_BYTES);
    length.writeUInt32LE(packed.length);
    this.#checksum = checksumOf(this.#checksum, packed);
    await this.#append(Buffer.concat([length, this.#checksum, packed]));
  }

  /** Gives the file its name. */
  async finish(): Promise<void> {
    await this.write('end', Buffer.alloc(0));
    await this.handle.sync();
    await this.handle.close();
    await rename(this.part, this.path);
  }

  async discard(): Promise<void> {
    await this.handle.close();
    await rm(this.part, { force: true });
  }

  async #append(bytes: Buffer): Promise<void> {
    await this.handle.writeFile(bytes);
    this.#bytes += bytes.length;
  }
}

/** The blocks of a file, each verified, without the last. Throws CannotWork in one line. */
export async function* readBlocks(path: string): AsyncGenerator<Block, void> {
  await requireReadable(path);
  const handle = await open(path, 'r');
  try {
    const { size } = await handle.stat();
    const firstLine = await readAt(handle, 0, Math.min(FIRST_LINE_BYTES, size));
    requireFormat(path, firstLine);
    let checksum = checksumOf(firstLine);
    let at = firstLine.length;
    for (;;) {
      const cut = new CannotWork(`${path} is cut off at byte ${at}: use another snapshot`);
      if (at + LENGTH_BYTES + CHECKSUM_BYTES > size) throw cut;
      const head = await readAt(handle, at, LENGTH_BYTES + CHECKSUM_BYTES);
      const length = head.readUInt32LE();
      const corrupt = new CannotWork(`${path} is corrupt at byte ${at}: use another snapshot`);
      if (length > BLOCK_LIMIT) throw corrupt;
      if (at + head.length + length > size) throw cut;
      const packed = await readAt(handle, at + head.length, length);
      checksum = checksumOf(checksum, packed);
      if (!checksum.equals(head.subarray(LENGTH_BYTES))) throw corrupt;
      at += head.length + length;
      const bytes = await decompress(packed, { maxOutputLength: BLOCK_LIMIT });
      const kind = kinds[bytes[0] as number];
      if (kind === undefined) throw corrupt;
      if (kind !== 'end') yield { kind, content: bytes.subarray(1), share: at / size };
      else if (at === size) return;
      else throw corrupt;
    }
  } finally {
    await handle.close();
  }
}

/** Refuses a pipe, which can be read only once: the file is verified before it is used. */
async function requireReadable(path: string): Promise<void> {
  const found = await stat(path);
  if (found.isFile()) return;
  throw new CannotWork(`${path} is not a regular file: FILE is read twice; name a file on a disk`);
}

/**
 * Refuses a pipe, a device, or a link that leads nowhere: the rename at the end would replace it
 * instead of filling it.
 */
async function requireReplaceable(path: string): Promise<void> {
  const found = await lstat(path).catch(() => undefined);
  if (found === undefined || found.isFile()) return;
  throw new CannotWork(
    `${path} is not a regular file: a snapshot is written beside FILE and takes its name when it ` +
      'is whole; name a file, and copy it from there',
  );
}

async function removeAbandoned(path: string): Promise<void> {
  const [folder, name] = [dirname(path), basename(path)];
  for (const other of await readdir(folder)) {
    if (!other.startsWith(name) || !PART.test(other.slice(name.length))) continue;
    // It is gone if its snapshot has just been finished and renamed.
    const found = await stat(join(folder, other)).catch(() => undefined);
    const isOld = found !== undefined && found.mtimeMs < Date.now() - ABANDONED_MS;
    if (isOld) await rm(join(folder, other), { force: true });
  }
}

function checksumOf(...parts: readonly Buffer[]): Buffer {
  const hash = createHash('sha256');
  for (const part of parts) hash.update(part);
  return hash.digest();
}

function requireFormat(path: string, firstLine: Buffer): void {
  const [, format] = new RegExp(`^${NAME} (\\d+) *\n$`).exec(firstLine.toString('latin1')) ?? [];
  if (format === undefined) throw new CannotWork(`${path} is not a snapshot of Freshet`);
  if (Number(format) <= FORMAT) return;
  throw new CannotWork(
    `${path} has format ${format}, this version of Freshet reads up to ${FORMAT}: update Freshet`,
  );
}

async function readAt(handle: FileHandle, at: number, length: number): Promise<Buffer> {
  const { buffer, bytesRead } = await handle.read(Buffer.alloc(length), 0, length, at);
  return buffer.subarray(0, bytesRead);
}
