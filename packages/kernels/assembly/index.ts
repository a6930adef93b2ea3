// The kernels, on byte offsets. Only packages/kernels/src/wasm.ts calls them.
export { dot, promote } from './vectors';
export { symv, syrMove, syrTriangle } from './matrix';
export { rowDots, rowSum } from './row';
export { descend, descendSums } from './descend';
export { scan } from './scan';
export { layIn, moveIn, order, rankFour, rankOne, turnQuery } from './rank';
