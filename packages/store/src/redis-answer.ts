/** What do Redis's errors mean? Nearly all that it is away, or cannot write just now; both pass. */
import { StoreAway } from './factor-store.ts';

/** What Redis says of a command that is wrong, and stays wrong however often it is sent. */
const WRONG = /^(ERR|WRONGTYPE|CROSSSLOT|NOSCRIPT)\b/;
const PASSING = /^ERR max number of clients/;

/** The reply to a command, or an error that says what it means and nothing of the command. */
export async function answered<T>(reply: Promise<T>): Promise<T> {
  try {
    return await reply;
  } catch (error) {
    const isBug = error instanceof TypeError || error instanceof RangeError;
    if (isBug || !(error instanceof Error)) throw error;
    const { name, message } = error;
    if (name === 'ReplyError' && WRONG.test(message) && !PASSING.test(message)) {
      throw new Error(`Redis refused a command: ${message}`);
    }
    throw new StoreAway(`Redis: ${message}`);
  }
}
