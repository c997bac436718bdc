import type { OutcomeDetail } from '../../domain/reading.ts';
import type { Secret } from '../../domain/secret.ts';
import type { Clock } from '../../ports/clock.ts';
import type { BroughtToken } from '../kind.ts';

type Bringing = Promise<BroughtToken | OutcomeDetail>;

/** A token is asked for again so long before its end, or a tenth of its life where that is less. */
const marginMs = 60_000;

/** One request at a time for all accounts that share a token, and none while one is good. In memory alone. */
export class Tokens {
  readonly #clock: Clock;
  readonly #kept = new Map<string, { readonly token: Secret; readonly until: number }>();
  readonly #underWay = new Map<string, Bringing>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** `wasKept` is false for a token that was only just brought: one that is refused is no old one. */
  async bring(
    key: string,
    ask: () => Bringing,
  ): Promise<{ readonly token: Secret; readonly wasKept: boolean } | OutcomeDetail> {
    const kept = this.#kept.get(key);
    if (kept !== undefined && this.#clock.now() < kept.until) return { token: kept.token, wasKept: true };
    const bringing = this.#underWay.get(key) ?? ask();
    this.#underWay.set(key, bringing);
    try {
      const brought = await bringing;
      if ('kind' in brought) return brought;
      const { token, lifetimeMs } = brought;
      const until = this.#clock.now() + lifetimeMs - Math.min(marginMs, lifetimeMs / 10);
      this.#kept.set(key, { token, until });
      return { token, wasKept: false };
    } finally {
      this.#underWay.delete(key);
    }
  }

  /** Forgets a token that was refused, unless another one has taken its place. */
  forget(key: string, token: Secret): void {
    if (this.#kept.get(key)?.token === token) this.#kept.delete(key);
  }
}
