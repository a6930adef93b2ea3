/** For code that runs in a browser too, where node:assert is not at hand. */
export function assert(holds: boolean, claim: string): asserts holds {
  if (!holds) throw new Error(claim);
}
