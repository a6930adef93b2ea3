// The exported kernels. Arguments are byte addresses; only packages/kernels/src calls them.
export { dot, promote } from './vectors';
export { symv, syrMove, syrTriangle } from './matrix';
export { point, rowDots, rowOrder, rowSum, scan, weigh } from './row';
export { descend, descendSums } from './descend';
export { order } from './heap';
export { forget, gather, scoreOthers } from './raise';
export { exclude, rank } from './rank';
export { layIn, moveIn, transformQuery } from './sketch';
