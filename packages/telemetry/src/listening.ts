/** A port that cannot be had is told by its setting, so that the operator knows what to change. */

/** A server of ours could not listen: only the operator can help. */
export class CannotListen extends Error {
  override readonly name = 'CannotListen';
}

export interface Address {
  readonly host: string;
  readonly port: number;
  /** The setting that chose the port. */
  readonly setting: string;
}

const reasons: Readonly<Record<string, string>> = {
  EADDRINUSE: 'is in use: stop what uses it',
  EACCES: 'is not allowed to this user: run as one who may',
  EADDRNOTAVAIL: 'is not on this machine: correct HTTP_HOST',
};

export async function listening<T>(
  { host, port, setting }: Address,
  listen: (at: { host: string; port: number }) => Promise<T>,
): Promise<T> {
  try {
    return await listen({ host, port });
  } catch (error) {
    const reason = reasons[(error as NodeJS.ErrnoException).code ?? ''];
    if (reason === undefined) throw error;
    const advice = `${host}:${port} ${reason}, or set ${setting} to another port`;
    throw new CannotListen(advice, { cause: error });
  }
}
