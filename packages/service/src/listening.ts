/** If a server cannot listen, the error names the setting that the operator must change. */

export interface Address {
  readonly host: string;
  readonly port: number;
  readonly setting: string;
  readonly hostSetting: string;
}

const reasons: Readonly<Record<string, string>> = {
  EADDRINUSE: 'is in use: stop what uses it',
  EACCES: 'is not allowed to this user: run as one who may',
};

/** Node's codes for an address of another machine, and for a host name that does not resolve. */
const NO_SUCH_ADDRESS = ['EADDRNOTAVAIL', 'ENOTFOUND', 'EAI_AGAIN'];

export async function listening<T>(
  { host, port, setting, hostSetting }: Address,
  listen: (at: { host: string; port: number }) => Promise<T>,
): Promise<T> {
  try {
    return await listen({ host, port });
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException;
    if (NO_SUCH_ADDRESS.includes(code)) {
      const advice = `${host} is not an address of this machine: correct ${hostSetting}`;
      throw new Error(advice, { cause: error });
    }
    const reason = reasons[code];
    if (reason === undefined) throw error;
    const advice = `${host}:${port} ${reason}, or set ${setting} to another port`;
    throw new Error(advice, { cause: error });
  }
}
