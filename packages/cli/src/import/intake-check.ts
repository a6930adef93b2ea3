/**
 * What would intake say of the ratings of a file? Those that it would park are left out. If there
 * are more than a few, the file means something else than the settings expect, and is refused.
 */
import { encodeRating, PoisonRecord, type RatingReader } from '@freshet/events';
import { type FileRating, UnreadableRatings } from '@freshet/ratings-files';

const REFUSED_SHARE = 0.01;

export class IntakeCheck {
  #ratings = 0;
  #refused = 0;
  #firstRating: FileRating | undefined;
  #firstReason: PoisonRecord | undefined;

  constructor(
    private readonly path: string,
    private readonly reader: Pick<RatingReader, 'read'>,
    private readonly onRefused: (rating: FileRating, reason: string) => void = () => {},
  ) {}

  /**
   * Encodes in Freshet's own schema, which intake reads whatever RATING_FIELDS says. Undefined if
   * intake would park it.
   */
  encoded(rating: FileRating): Buffer | undefined {
    this.#ratings++;
    this.#firstRating ??= rating;
    const { user, item, value, time } = rating;
    const whole = time === undefined ? null : Math.round(time);
    const bytes = encodeRating({ user, item, value, time: whole });
    try {
      this.reader.read({ key: null, value: bytes, timestamp: Date.now() });
      return bytes;
    } catch (error) {
      if (!(error instanceof PoisonRecord)) throw error;
      this.#refused++;
      this.#firstReason ??= error;
      this.onRefused(rating, error.message);
      return undefined;
    }
  }

  /** Throws if too many were refused, once there are `after` ratings. */
  judge(after = 0): void {
    const [rating, reason] = [this.#firstRating, this.#firstReason];
    if (rating === undefined || reason === undefined || this.#ratings < after) return;
    if (this.#refused <= REFUSED_SHARE * this.#ratings) return;
    const mend =
      reason.reason === 'bad-value'
        ? ' Set RATING_MAX to the largest value, or say --columns value=none to count every line as 1.'
        : '';
    throw new UnreadableRatings(
      `${this.path}: ${this.#refused} of the first ${this.#ratings} ratings would be refused: ${reason.message}.${mend} Are the columns right (--columns)? The first rating was read as ${shownRating(rating)}`,
    );
  }
}

/** Shows the time as a date: a column that is no time often gives a day in 1970. */
export function shownRating({ time, ...rating }: FileRating): string {
  return JSON.stringify({ ...rating, ...(time !== undefined && { time: new Date(time) }) });
}
