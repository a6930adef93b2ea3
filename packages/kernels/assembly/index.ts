// The kernels, on byte offsets. Only packages/kernels/src/wasm.ts calls them.
export { axpy, dot, promote } from './vectors';
export { symv, syr } from './matrix';
export { rowDots, rowSum } from './row';
export { descend } from './descend';
export { keepBest, scan } from './scan';
export { rankFour, rankOne } from './rank';
