import type { Outcome } from '../../src/domain/reading.ts';
import type { AccountSettings } from '../../src/domain/settings.ts';
import type { Delivery } from '../../src/ports/channel.ts';
import { Chats } from './chats.ts';
import { ReceiverNames } from './receiver-names.ts';
import {
  allOf,
  type Balances,
  type ChannelSpell,
  dayMs,
  hourMs,
  type Scenario,
  type Spell,
  type Traffic,
} from './scenario.ts';
import { chanceOf, hashText } from './seeded.ts';
import { Tests } from './tests.ts';

/** What the provider will answer, and after how long. */
export interface Answer {
  readonly outcome: Outcome;
  readonly afterMs: number;
}

/** What becomes of a message that is sent. */
export interface Fate {
  /** When it reaches its readers; null when it never does. */
  readonly arrivesAfterMs: number | null;
  readonly answersAfterMs: number;
  readonly delivery: Delivery;
}

/**
 * The world outside of lowwater: balances, the provider's and the channels' moods. Every answer depends on the scenario and the
 * instant alone, so that taking a fault away changes nothing else.
 */
export class World {
  readonly names: ReceiverNames;
  readonly chats: Chats;
  readonly tests = new Tests();
  readonly #scenario: Scenario;
  readonly #places = new Map<string, number>();
  /** Also those that an edit of the configuration adds. */
  readonly #accounts: readonly AccountSettings[];

  constructor(scenario: Scenario) {
    this.#scenario = scenario;
    this.names = new ReceiverNames(scenario);
    this.chats = new Chats(this.names);
    const edits = allOf(scenario.events).flatMap((it) => (it.kind === 'reload' ? [it.settings] : []));
    this.#accounts = [scenario.settings, ...edits].flatMap(({ accounts }) => accounts);
  }

  /** `at` is the world's time: it goes on while the machine sleeps. */
  answer(account: string, at: number, asked?: AccountSettings['balances']): Answer {
    const { seed, noise } = this.#scenario;
    const place = this.#placeOf(account);
    const afterMs = 20 + Math.floor(chanceOf(seed, 1, place, at) * 400);
    const spell = this.#scenario.weather.find(
      (it, index) =>
        it.from <= at &&
        at < it.until &&
        (it.accounts === null || it.accounts.includes(account)) &&
        chanceOf(seed, 2, place, at, index) < it.share,
    );
    if (spell !== undefined) return this.#misbehave(account, spell, { at, afterMs, asked });
    if (noise > 0 && chanceOf(seed, 3, place, at) < noise) return failed('network_error', afterMs);
    return { afterMs, outcome: good(this.balances(account, at + afterMs, asked), afterMs) };
  }

  /** Whether the database did what it was asked, and nobody hears of it. */
  losesAnswer(at: number, often = false): boolean {
    const { seed, storeMs, days, losesNoAnswer } = this.#scenario;
    if (losesNoAnswer === true) return false;
    return storeMs > 0 && at < days * dayMs && chanceOf(seed, 7, at) < (often ? 0.7 : 0.03);
  }

  /** `to`: those of its recipients whom it goes to; absent: all of them. */
  fate(
    channel: string,
    {
      at,
      attempt,
      to,
      parts = null,
    }: {
      readonly at: number;
      readonly attempt: number;
      readonly to: readonly string[] | undefined;
      /** What a receiver takes by itself; null for one that takes messages whole. */
      readonly parts?: readonly string[] | null;
    },
  ): Fate {
    const { seed, noise } = this.#scenario;
    const key = hashText(channel);
    const answersAfterMs = 50 + Math.floor(chanceOf(seed, 4, key, at, attempt) * 900);
    const spell = this.#scenario.channelWeather.find(
      (it, index) =>
        it.channel === channel &&
        it.from <= at &&
        at < it.until &&
        chanceOf(seed, 5, key, at, index) < it.share,
    );
    if (spell !== undefined) return fateIn(spell, answersAfterMs, { to, parts });
    if (noise > 0 && chanceOf(seed, 6, key, at, attempt) < noise) {
      return { arrivesAfterMs: null, answersAfterMs, delivery: retry('refused', 'connection reset') };
    }
    return { arrivesAfterMs: answersAfterMs / 2, answersAfterMs, delivery: { kind: 'delivered' } };
  }

  /** `asked`: those that it is asked for; absent: those that it had first. */
  balances(account: string, at: number, asked?: AccountSettings['balances']): Balances {
    const traffic = this.#scenario.traffic[account];
    const balances = asked ?? this.#accounts.find(({ id }) => id === account)?.balances ?? [];
    const amounts = balances.map(({ id }, place) => [
      id,
      traffic === undefined ? 0 : balanceAt(traffic, place, at + (place * traffic.cycleMs) / 3),
    ]);
    return { balances: Object.fromEntries(amounts), currency: traffic?.currency ?? 'EUR' };
  }

  #misbehave(
    account: string,
    spell: Spell,
    it: {
      readonly at: number;
      readonly afterMs: number;
      readonly asked: AccountSettings['balances'] | undefined;
    },
  ): Answer {
    const { at, afterMs, asked } = it;
    const { kind, retryAfterMs } = spell;
    switch (kind) {
      case 'currency':
        return { afterMs, outcome: good({ ...this.balances(account, at, asked), currency: 'USD' }, afterMs) };
      case 'slow':
        return { afterMs: 6000, outcome: good(this.balances(account, at + 6000, asked), 6000) };
      case 'timeout':
        return failed('timeout', 10_000);
      case 'rate_limited':
        return failed('rate_limited', afterMs, {
          code: -32,
          ...(retryAfterMs === null ? {} : { retryAfterMs }),
        });
      case 'auth_failed':
        return failed('auth_failed', afterMs, { code: -22 });
      case 'api_error':
        return failed('api_error', afterMs, { code: -1 });
      case 'http_error':
        return failed('http_error', afterMs, {
          status: 503,
          ...(retryAfterMs === null ? {} : { retryAfterMs }),
        });
      default:
        return failed(kind, afterMs);
    }
  }

  #placeOf(account: string): number {
    const known = this.#places.get(account) ?? hashText(account);
    this.#places.set(account, known);
    return known;
  }
}

function good(answer: Balances, durationMs: number): Outcome {
  return { kind: 'ok', answer, durationMs, usage: {} };
}

function failed(kind: Exclude<Outcome['kind'], 'ok'>, afterMs: number, more: object = {}): Answer {
  return { afterMs, outcome: { kind, reason: `simulated ${kind}`, durationMs: afterMs, usage: {}, ...more } };
}

function retry(certainty: 'refused' | 'unknown', reason: string, afterMs: number | null = null): Delivery {
  return { kind: 'retry', certainty, reason, ...(afterMs === null ? {} : { afterMs }) };
}

function fateIn(
  spell: ChannelSpell,
  answersAfterMs: number,
  { to, parts }: { readonly to: readonly string[] | undefined; readonly parts: readonly string[] | null },
): Fate {
  const arrives = answersAfterMs / 2;
  switch (spell.kind) {
    case 'refused':
      return { arrivesAfterMs: null, answersAfterMs, delivery: retry('refused', 'connection refused') };
    case 'limited':
      return { arrivesAfterMs: null, answersAfterMs, delivery: retry('refused', 'too many', spell.afterMs) };
    case 'closed': {
      const delivery = { ...retry('refused', '429', spell.afterMs), isForAll: true } as const;
      return { arrivesAfterMs: null, answersAfterMs, delivery };
    }
    case 'arrived':
      return { arrivesAfterMs: arrives, answersAfterMs, delivery: retry('unknown', 'no answer') };
    case 'lost':
      return { arrivesAfterMs: null, answersAfterMs, delivery: retry('unknown', 'no answer') };
    case 'slow':
      return { arrivesAfterMs: 20_000, answersAfterMs: 55_000, delivery: { kind: 'delivered' } };
    case 'dead':
      return { arrivesAfterMs: null, answersAfterMs, delivery: { kind: 'dead', reason: 'no such channel' } };
    case 'partial':
      return {
        arrivesAfterMs: arrives,
        answersAfterMs,
        delivery: { kind: 'delivered', refusedRecipients: ['gone@example.com'] },
      };
    case 'nobody':
    case 'owing': {
      // Of a message with one part nobody else has anything.
      if (to !== undefined || (parts !== null && parts.length < 2))
        return {
          arrivesAfterMs: null,
          answersAfterMs,
          delivery: retry('refused', '451 later', spell.afterMs),
        };
      const wait = spell.afterMs === null ? {} : { afterMs: spell.afterMs };
      const late = parts?.slice(0, 1) ?? ['late@example.com'];
      if (spell.kind === 'nobody') {
        const refused = { recipients: parts?.slice(1) ?? ['gone@example.com'], others: late, refusal: '550' };
        const delivery = {
          kind: 'retry',
          certainty: 'refused',
          reason: '451 later',
          ...wait,
          refused,
        } as const;
        return { arrivesAfterMs: null, answersAfterMs, delivery };
      }
      const owed = { recipients: late, reason: '451 later', ...wait };
      return { arrivesAfterMs: arrives, answersAfterMs, delivery: { kind: 'delivered', owed } };
    }
  }
}

/** Share of a day's spending that is done by each hour: little by night. */
const dayShape = [
  0, 0.01, 0.02, 0.02, 0.03, 0.04, 0.06, 0.1, 0.16, 0.24, 0.32, 0.4, 0.48, 0.55, 0.62, 0.69, 0.76, 0.82, 0.87,
  0.91, 0.94, 0.96, 0.98, 0.99, 1,
];

function balanceAt(traffic: Traffic, which: number, at: number): number {
  const { key, cycleMs, grainMicros, highMicros, lows, levels } = traffic;
  const cycle = Math.floor(at / cycleMs);
  const draw = (what: number): number => chanceOf(key, which, cycle, what);
  const low = lows[Math.floor(draw(0) * lows.length)] ?? 0;
  const style = draw(1);
  if (style < traffic.swings) {
    const level = levels[Math.floor(draw(2) * levels.length)] ?? 0;
    const periodMs = 600_000 * (1 + Math.floor(draw(3) * 12));
    return level + (Math.floor(at / periodMs) % 2 === 0 ? 1 : -1) * grainMicros;
  }
  if (style < traffic.swings + traffic.idles) return low;
  const spent = spentShare(at, cycle * cycleMs, cycleMs);
  const exact = highMicros - (highMicros - low) * spent;
  return Math.round(exact / grainMicros) * grainMicros;
}

/** From 0 at the cycle's begin to 1 at its end; long cycles follow the hours of the day. */
function spentShare(at: number, beginsAt: number, cycleMs: number): number {
  const part = (at - beginsAt) / cycleMs;
  if (cycleMs <= dayMs) return part;
  const day = Math.floor(at / dayMs) * dayMs;
  const hour = Math.floor((at - day) / hourMs);
  const within = (at - day - hour * hourMs) / hourMs;
  const low = dayShape[hour] ?? 0;
  const high = dayShape[hour + 1] ?? 1;
  return Math.min(1, Math.max(0, (day - beginsAt + (low + (high - low) * within) * dayMs) / cycleMs));
}
