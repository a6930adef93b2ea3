/** How a file of ratings is to be read, as `freshet evaluate` and `freshet import` are told. */
import { type Columns, type Format, formats } from '@freshet/ratings-files';
import { WrongUsage } from './operator-command.ts';

export function formatOption(text: string | undefined): { readonly format?: Format } {
  if (text === undefined) return {};
  const format = formats.find((known) => known === text);
  if (format !== undefined) return { format };
  throw new WrongUsage(`--format must be one of ${formats.join(', ')}, not ${text}`);
}

export function columnsOption(text: string | undefined): Columns {
  if (text === undefined) return {};
  const pairs = text.split(',').map((pair) => {
    const [field = '', column = ''] = pair.split('=');
    if (['user', 'item', 'value', 'time'].includes(field) && column !== '') return [field, column];
    throw new WrongUsage(
      `--columns must be like user=reviewer,item=asin,value=3,time=4, not ${pair}`,
    );
  });
  return Object.fromEntries(pairs) as Columns;
}
