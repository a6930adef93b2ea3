/** What of an error may be logged: name, message and stack; clients hang commands with ids and values on theirs. */
export function plainError(error: unknown): { type: string; message: string; stack: string } {
  const { name, message, stack = '' } = error instanceof Error ? error : new Error(String(error));
  return { type: name, message, stack };
}
