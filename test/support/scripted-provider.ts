import type { BalanceAnswer, Outcome, OutcomeKind, ProviderFacts } from '../../src/domain/reading.ts';
import type { AccountSettings } from '../../src/domain/settings.ts';
import type { Provider, SendingGuard } from '../../src/ports/provider.ts';
import { units } from './account-facts.ts';

type Failure = Exclude<OutcomeKind, 'ok'>;

/** A provider whose answers a test sets: balances in whole units, or failures. Counts what it was asked. */
export class ScriptedProvider implements Provider {
  /** Instants of every request, by account. */
  readonly asked = new Map<string, number[]>();
  /** Until when answers are held back. */
  hold: Promise<void> | null = null;
  readonly #now: () => number;
  readonly #answers = new Map<string, Outcome>();
  #fallback: Outcome = okOutcome({ sms: 10_000 });
  #down: Failure | null = null;

  constructor(now: () => number) {
    this.#now = now;
  }

  /** Every account that has no answer of its own gives this one. */
  fill(sms: number): void {
    this.#fallback = okOutcome({ sms });
  }

  set(account: string, sms: number, over: { readonly voip?: number; readonly currency?: string } = {}): void {
    this.#answers.set(account, okOutcome({ sms, ...over }));
  }

  /** The balances of an account of any kind, in millionths. */
  answer(account: string, answer: BalanceAnswer, facts?: ProviderFacts): void {
    const said = facts === undefined ? {} : { facts };
    this.#answers.set(account, { kind: 'ok', answer, durationMs: 5, usage: {}, ...said });
  }

  /** A good answer that says more than the balances. */
  say(account: string, sms: number, facts: ProviderFacts): void {
    this.#answers.set(account, { ...okOutcome({ sms }), facts });
  }

  fail(account: string, kind: Failure = 'timeout', over: { readonly retryAfterMs?: number } = {}): void {
    this.#answers.set(account, { ...failedOutcome(kind), ...over });
  }

  /** Every account fails until `recover`; their answers are kept. */
  breakDown(kind: Failure = 'timeout'): void {
    this.#down = kind;
  }

  recover(): void {
    this.#down = null;
  }

  async readBalance(account: AccountSettings, _signal: AbortSignal, _guard?: SendingGuard): Promise<Outcome> {
    this.asked.set(account.id, [...(this.asked.get(account.id) ?? []), this.#now()]);
    if (this.hold !== null) await this.hold;
    if (this.#down !== null) return failedOutcome(this.#down);
    return this.#answers.get(account.id) ?? this.#fallback;
  }

  async close(): Promise<void> {}
}

function okOutcome(it: {
  readonly sms: number;
  readonly voip?: number;
  readonly currency?: string;
}): Outcome & { readonly kind: 'ok' } {
  const answer = {
    balances: { sms: units(it.sms), voip: units(it.voip ?? 0) },
    currency: it.currency ?? 'CNY',
  };
  return { kind: 'ok', answer, durationMs: 5, usage: {} };
}

function failedOutcome(kind: Failure): Outcome {
  return { kind, reason: `the scripted provider answered ${kind}`, durationMs: 5, usage: {} };
}
