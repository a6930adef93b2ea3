// The kernels, on byte offsets. Only packages/kernels/src/wasm.ts calls them.
export { axpy, dot, promote } from './vectors';
export { symv, syr, syrMove, syrTriangle } from './matrix';
export { rowDots, rowSum } from './row';
export { descend, descendSums } from './descend';
export { keepBest, scan, scanAt } from './scan';
export { layIn, moveIn, order, rankFour, rankOne, turnQuery } from './rank';
