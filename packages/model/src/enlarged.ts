/** Typed arrays cannot grow: this copies one to the beginning of a longer one. */

type Numbers = Uint8Array | Uint16Array | Uint32Array | Float32Array | Float64Array;

export function enlarged<A extends Numbers>(array: A, length: number): A {
  const Longer = array.constructor as new (length: number) => A;
  const longer = new Longer(length);
  longer.set(array);
  return longer;
}
