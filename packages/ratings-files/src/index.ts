export { type DateOrder, dateOrders } from './dates.ts';
export { type Columns, type FileRating, fields, UnreadableRatings } from './fields.ts';
export { type Format, formats } from './line-format.ts';
export { type ReadOptions, readRatingBatches } from './read-ratings.ts';
