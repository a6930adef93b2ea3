/** What a caller of the model can have done wrong; thrown before any state changes. */

/** The rating can never be learnt from: park it. */
export class BadRating extends Error {
  override readonly name = 'BadRating';
}

/** These settings describe no model: refuse to start. */
export class BadSettings extends Error {
  override readonly name = 'BadSettings';
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(problems.join('; '));
    this.problems = problems;
  }
}

/** Nobody, or nothing, of this id has a vector. */
export class UnknownId extends Error {
  override readonly name = 'UnknownId';
}
