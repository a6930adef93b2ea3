/** Who rated what, by owner: the rows of one side, packed one after another. */

export interface Rows {
  /** Row of owner o: from start[o] up to start[o + 1]. */
  readonly start: Uint32Array;
  readonly neighbour: Uint32Array;
  readonly value: Float32Array;
}

export function rowsOf(
  owners: Uint32Array,
  neighbours: Uint32Array,
  values: Float32Array,
  ownerCount: number,
): Rows {
  const start = new Uint32Array(ownerCount + 1);
  for (const owner of owners) start[owner + 1]++;
  for (let owner = 0; owner < ownerCount; owner++) start[owner + 1] += start[owner];
  const next = start.slice(0, ownerCount);
  const neighbour = new Uint32Array(owners.length);
  const value = new Float32Array(owners.length);
  for (let rating = 0; rating < owners.length; rating++) {
    const at = next[owners[rating]]++;
    neighbour[at] = neighbours[rating];
    value[at] = values[rating];
  }
  return { start, neighbour, value };
}
