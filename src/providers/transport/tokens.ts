import type { ForeignTexts } from '../../domain/foreign-text.ts';
import { getOrMake } from '../../domain/get-or-make.ts';
import type { OutcomeDetail } from '../../domain/reading.ts';
import type { Secret } from '../../domain/secret.ts';
import type { Clock } from '../../ports/clock.ts';
import type { BroughtToken } from '../kind.ts';

/** The answer to a request for a token; null if it was given up with the account that asked for it. */
type Bringing = Promise<BroughtToken | OutcomeDetail | null>;

/** A token is renewed this long before its end, or a tenth of its life before if that is less. */
const marginMs = 60_000;

interface Kept {
  readonly token: Secret;
  readonly until: number;
  /** The token before this one, which answers under way may still quote. */
  readonly before: Secret | null;
}

/**
 * The tokens of accounts, in memory only. All accounts that share a token make one request at a time for it, and none while it is valid.
 * `texts` hides each token and the one before it.
 */
export function createTokens(clock: Clock, texts: ForeignTexts) {
  const tokens = new Map<string, Kept>();
  const underWay = new Map<string, Bringing>();
  return { bring, forget };

  /** `wasKept` is false for a token that was just brought: if it is refused, age is not the cause. */
  async function bring(
    key: string,
    ask: () => Bringing,
  ): Promise<{ readonly token: Secret; readonly wasKept: boolean } | OutcomeDetail | null> {
    const kept = tokens.get(key);
    if (kept !== undefined && clock.now() < kept.until) return { token: kept.token, wasKept: true };
    let isOwn = false;
    const brought = await getOrMake(underWay, key, () => {
      isOwn = true;
      return keep(key, ask()).finally(() => underWay.delete(key));
    });
    if (brought === null) return isOwn ? null : bring(key, ask);
    return 'kind' in brought ? brought : { token: brought.token, wasKept: false };
  }

  async function keep(key: string, asked: Bringing): Bringing {
    const brought = await asked;
    if (brought === null || 'kind' in brought) return brought;
    const { token, lifetimeMs } = brought;
    const last = tokens.get(key);
    texts.add(token.reveal());
    if (last?.before) texts.remove(last.before.reveal());
    const until = clock.now() + lifetimeMs - Math.min(marginMs, lifetimeMs / 10);
    tokens.set(key, { token, until, before: last?.token ?? null });
    return brought;
  }

  /** Forgets a token that was refused, unless another one has taken its place. */
  function forget(key: string, token: Secret): void {
    const kept = tokens.get(key);
    if (kept?.token === token) tokens.set(key, { ...kept, until: Number.NEGATIVE_INFINITY });
  }
}
