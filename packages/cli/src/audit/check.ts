/** One check of an audit and its result. */
export interface Check {
  readonly name: string;
  readonly status: 'ok' | 'violated' | 'not settled';
  readonly checked: string;
  /** What is wrong, each with its place; or why the check could not decide. */
  readonly problems: readonly string[];
}

/** More problems than these are counted and not listed. */
const PROBLEMS_SHOWN = 20;

export class Findings {
  readonly #problems: string[] = [];
  readonly #open: string[] = [];
  #unshown = 0;

  violation(problem: string): void {
    if (this.#problems.length < PROBLEMS_SHOWN) this.#problems.push(problem);
    else this.#unshown++;
  }

  /** Something that could not be checked, because it changed or is not there yet. */
  unsettled(reason: string): void {
    this.#open.push(reason);
  }

  check(name: string, checked: string): Check {
    if (this.#problems.length > 0) {
      const more = this.#unshown > 0 ? [`and ${this.#unshown} more`] : [];
      return { name, status: 'violated', checked, problems: [...this.#problems, ...more] };
    }
    const status = this.#open.length > 0 ? 'not settled' : 'ok';
    return { name, status, checked, problems: this.#open };
  }
}

/** 0 clean, 1 violation, 2 not settled. */
export function exitCodeOf(checks: readonly Check[]): 0 | 1 | 2 {
  if (checks.some(({ status }) => status === 'violated')) return 1;
  return checks.some(({ status }) => status === 'not settled') ? 2 : 0;
}
