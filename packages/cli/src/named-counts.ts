/** How many there are of each name, such as of each reason. */
export class NamedCounts extends Map<string, number> {
  add(name: string): void {
    this.set(name, (this.get(name) ?? 0) + 1);
  }

  get total(): number {
    return [...this.values()].reduce((sum, count) => sum + count, 0);
  }

  /** As in `2 not-json, 1 bad-id`. */
  listed(): string {
    return [...this].map(([name, count]) => `${count} ${name}`).join(', ');
  }
}
