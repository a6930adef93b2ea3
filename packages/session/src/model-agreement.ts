/**
 * Does this service have the settings of its model and of the services that run with it? Checked at
 * the start, with every take-over and every 1.5 s, so that a store that lost everything is noticed.
 */
import assert from 'node:assert';
import { randomUUID } from 'node:crypto';
import { topicName } from '@freshet/events';
import {
  type Agreed,
  type Agreement,
  type Birth,
  type FactorStore,
  ManifestMismatch,
  SIGN_OF_LIFE_MS,
  shardIds,
  type Tuning,
} from '@freshet/store';
import type { TopicAdmin } from '@freshet/stream';
import { type Log, metrics, untilAnswered } from '@freshet/telemetry';

interface AgreementOptions {
  readonly store: Pick<FactorStore, 'agree' | 'leave' | 'head'>;
  readonly admin: Pick<TopicAdmin, 'ends'>;
  readonly model: string;
  readonly agreement: Agreement;
  readonly log: Log;
}

/** Every wait, with the reason for its length. */
const waits = {
  lookAgainMs: 500,
  restoreMs: 5_000, // services that run notice an empty store sooner, and write their settings back
  othersMs: SIGN_OF_LIFE_MS + 2_000, // services that were killed count as running until then
} as const;

export class ModelAgreement implements Birth {
  born = 0;
  rebuilt = 0;
  readonly #id = randomUUID();
  readonly #lost = new Set<() => void>();
  #renewing: Promise<void> | undefined;
  #hasLeft = false;

  private constructor(private readonly options: AgreementOptions) {}

  /** Throws ManifestMismatch if this service must not write the model. */
  static async join(options: AgreementOptions): Promise<ModelAgreement> {
    const joined = new ModelAgreement(options);
    const attempts = { log: options.log, what: 'the settings were not checked' };
    await untilAnswered(() => joined.#join(), attempts);
    return joined;
  }

  /** Calls back when the model begins anew: the store lost everything, or a person rebuilds. */
  onLost(listen: () => void): void {
    this.#lost.add(listen);
  }

  /** Renews the sign of life and checks the settings again. One request at a time. */
  renew(): Promise<void> {
    if (this.#hasLeft) return Promise.resolve();
    this.#renewing ??= this.#renew().finally(() => {
      this.#renewing = undefined;
    });
    return this.#renewing;
  }

  /** Takes the sign of life back. Nothing renews it after that. */
  async close(): Promise<void> {
    const { store, log } = this.options;
    this.#hasLeft = true;
    const seconds = SIGN_OF_LIFE_MS / 1_000;
    const what = `the store is away: this service counts as running for ${seconds} s more`;
    await store.leave(this.#id).catch((error: unknown) => log.debug({ err: error }, what));
  }

  async #join(): Promise<void> {
    const { model, log } = this.options;
    const since = Date.now();
    for (;;) {
      const agreed = await this.#ask();
      const waited = Date.now() - since;
      if (agreed.kind === 'agreed') return this.#agreed(agreed);
      if (agreed.kind === 'tuned') {
        if (waited > waits.othersMs) throw this.#mistuned(agreed.tuning, agreed.others);
      } else {
        const claims = await this.#claims();
        // It existed before: services that run know its settings, and write them back.
        if (claims === 0 || waited > waits.restoreMs) {
          const begun = await this.#ask(await this.#beginning(claims));
          if (begun.kind !== 'agreed') continue;
          const what = 'the store lost this model: it is learnt again from the log';
          if (claims > 0) log.warn({ model }, what);
          return this.#agreed(begun);
        }
      }
      await new Promise((resolve) => setTimeout(resolve, waits.lookAgainMs));
    }
  }

  async #renew(): Promise<void> {
    let agreed = await this.#ask();
    if (agreed.kind === 'tuned') throw this.#mistuned(agreed.tuning, agreed.others);
    if (agreed.kind === 'absent') {
      agreed = await this.#ask(await this.#beginning(await this.#claims()));
    }
    // This service has begun the model anew, or another that noticed before, or a person.
    if (agreed.kind === 'agreed' && this.#isOther(agreed)) this.#tellLost(agreed);
  }

  /** Both epochs: a store that is lost right after a rebuild may begin at the same epoch. */
  #isOther({ born, rebuilt }: Birth): boolean {
    return born !== this.born || rebuilt !== this.rebuilt;
  }

  #tellLost({ born, rebuilt }: Birth): void {
    const { model, log } = this.options;
    [this.born, this.rebuilt] = [born, rebuilt];
    if (born === rebuilt) {
      log.warn({ model, born }, 'this model is being rebuilt: it is learnt again from its sources');
    } else {
      metrics.storeLosses.inc();
      const what =
        'the store lost this model: it is learnt again from the log, and answers wait until then';
      log.error({ model, born }, what);
    }
    for (const listen of this.#lost) listen();
  }

  #agreed({ born, rebuilt, former }: Extract<Agreed, { kind: 'agreed' }>): void {
    const { model, agreement, log } = this.options;
    [this.born, this.rebuilt] = [born, rebuilt];
    if (former === null) return;
    const changes = differences(agreement.tuning, former);
    log.warn({ model, changes }, `what is learnt changes from now on: ${changes.join('; ')}`);
  }

  #ask(born?: number): Promise<Agreed> {
    const { store, agreement } = this.options;
    return store.agree(agreement, { id: this.#id, ...(born === undefined ? {} : { born }) });
  }

  async #claims(): Promise<number> {
    const { admin, model } = this.options;
    const claims = (await admin.ends(topicName('claims', model))).get(0);
    assert(claims !== undefined, 'the claims topic has one partition');
    return claims;
  }

  /** The epoch at which the shards that are left began, else the present one. */
  async #beginning(claims: number): Promise<number> {
    const { store, agreement } = this.options;
    const lives: number[] = [];
    for (const id of shardIds(agreement.manifest.shards)) {
      const { life } = (await store.head(id)).facts;
      if (life !== null) lives.push(life);
    }
    return lives.length > 0 ? Math.min(...lives) : claims;
  }

  #mistuned(theirs: Tuning, others: number): ManifestMismatch {
    const { model, agreement } = this.options;
    const changes = differences(agreement.tuning, theirs).join('; ');
    return new ManifestMismatch(
      `${others} services of model "${model}" run with other settings: ${changes}. Set them back, or stop all of them and start them with the new values`,
    );
  }
}

function differences(ours: Tuning, theirs: Tuning): string[] {
  return Object.keys({ ...ours, ...theirs })
    .filter((name) => ours[name] !== theirs[name])
    .map((name) => `${name} is ${ours[name]}, it was ${theirs[name]}`);
}
