// The kernels, on byte offsets. Only packages/kernels/src/wasm.ts calls them.
export { dot, promote } from './vectors';
export { symv, syrMove, syrTriangle } from './matrix';
export { rowDots, rowSum, scan } from './row';
export { descend, descendSums } from './descend';
export { layIn, moveIn, order, rankFour, rankOne, transformQuery } from './rank';
