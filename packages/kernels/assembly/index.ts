// The exported kernels. Arguments are byte addresses; only packages/kernels/src calls them.
export { dot, promote } from './vectors';
export { symv, syrMove, syrTriangle } from './matrix';
export { rowDots, rowOrder, rowSum, scan } from './row';
export { descend, descendSums } from './descend';
export { layIn, moveIn, order, rankFour, rankOne, transformQuery } from './rank';
