/** A model in Redis that is reserved for one restore, which renews that with every step. */
import { randomUUID } from 'node:crypto';
import { SIGN_OF_LIFE_MS } from './agreement.ts';
import { CopyFailed } from './factor-store.ts';
import { answered, type Connection, type Scripts } from './redis-connection.ts';

export class RedisReservation {
  readonly #id = randomUUID();

  private constructor(
    private readonly redis: Connection,
    private readonly run: Scripts,
    private readonly key: string,
  ) {}

  static async begin(redis: Connection, run: Scripts, key: string): Promise<RedisReservation> {
    const reservation = new RedisReservation(redis, run, key);
    if (await reservation.#reserve('begin')) return reservation;
    throw new CopyFailed('nothing was changed: services, or another restore, have been started');
  }

  /** Throws if somebody else uses the model by now. */
  async renew(): Promise<void> {
    if (await this.#reserve('go on')) return;
    throw new CopyFailed(
      'the restore is not finished: the store was emptied, or another restore or a rebuild has ' +
        'begun. If that is over and was not meant, run it again',
    );
  }

  /** Ends a restore that failed: it may be repeated at once. */
  async release(): Promise<void> {
    await answered(this.redis.hdel(this.key, `member:${this.#id}`));
  }

  async #reserve(how: 'begin' | 'go on'): Promise<boolean> {
    return (await this.run.reserve(1, this.key, this.#id, SIGN_OF_LIFE_MS, how)) === 1;
  }
}
