/** What the replies of the scripts mean. */
import type { CommitResult } from './factor-store.ts';
import { decodeFacts, NO_FACTS } from './shard-facts.ts';
import type { ShardHead, ShardState, StoredEntity } from './stored-shard.ts';
import { decodeVector } from './vector-codec.ts';

export type Reply = (Buffer | null)[];

/** The fields of a shard's head, in the order in which every script returns them. */
export const HEAD = ['fence', 'position', 'commit', 'facts'] as const;

export function resultOf(code: number, detail: Buffer): CommitResult {
  if (code === -1) return { kind: 'fenced', fence: Number(detail) };
  return code === 0 ? { kind: 'elsewhere', position: Number(detail) } : { kind: 'written' };
}

export function stateOf([sums = null, outbox = null, ...head]: Reply): ShardState {
  return { sums, outbox, ...headOf(head) };
}

export function headOf([fence, position, commit, facts]: Reply): ShardHead {
  return {
    fence: numberOf(fence),
    position: numberOf(position),
    commit: commit ? String(commit) : null,
    facts: facts ? decodeFacts(String(facts)) : NO_FACTS,
  };
}

export function entityOf(reply: Reply, at: number): StoredEntity {
  const [vector, body] = [reply[at], reply[at + 1]];
  return { stored: vector ? decodeVector(vector) : null, body: body ?? null };
}

function numberOf(text: Buffer | null | undefined): number | null {
  return text ? Number(text) : null;
}
