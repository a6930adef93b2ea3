/** Lays out help texts. */

const WIDTH = 100;
const WIDEST_LEFT = 18;

/** An option of a help text, and beside it what it does, in as many lines as that needs. */
export function helpRow(left: string, about: string, leftWidth = WIDEST_LEFT): string {
  const indent = leftWidth + 4;
  const lines: string[] = [''];
  for (const word of about.split(' ')) {
    const last = lines.length - 1;
    const longer = `${lines[last]}${lines[last] === '' ? '' : ' '}${word}`;
    if (longer.length > WIDTH - indent) lines.push(word);
    else lines[last] = longer;
  }
  return `  ${left.padEnd(leftWidth)}  ${lines.join(`\n${' '.repeat(indent)}`)}`;
}
