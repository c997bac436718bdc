import type { Daemon } from '../../../src/daemon/daemon.ts';
import type { Alert, Incident } from '../../../src/domain/alert.ts';
import { isInCurrency, type Outcome, type Reading } from '../../../src/domain/reading.ts';
import type { AccountSettings, Settings } from '../../../src/domain/settings.ts';
import type { MonitorState } from '../../../src/engine/state.ts';
import type { AnyRule } from '../../../src/rules/registry.ts';
import { Violation } from '../story.ts';
import { adoptAccount, type KnownEnd } from './adoption.ts';
import { type AlertFact, agrees, factOf, resting, shifted } from './alert-fact.ts';
import { ExpectedEvents } from './expected-events.ts';
import {
  type AccountFact,
  type AccountSetup,
  elapseAlert,
  isTie,
  judgeAnswer,
  type Polled,
  tieMs,
  timingOf,
} from './judge-alerts.ts';
import { isSoft, needsReading, rulesOf } from './rules.ts';
import { expectPossible, History } from './soft-rules.ts';

interface Mismatch {
  readonly since: number;
  readonly words: string;
}

/** A difference that lasts longer than this is not due to two timers at one instant. */
const patienceMs = 3000;

/** Predicts every alert from the provider's answers, and compares the daemon's own alerts with that. */
export class AlertBook {
  readonly #setups = new Map<string, AccountSetup>();
  readonly #mismatches = new Map<string, Mismatch>();
  readonly known = new Set<string>();
  readonly #histories = new Map<string, History>();
  /** The state of each alert of a soft rule (`isSoft`), when it was last looked at. */
  readonly #softSeen = new Map<string, string>();
  #live = new Map<string, AccountFact>();
  #durable = new Map<string, AccountFact>();
  #taken = new Map<string, AccountFact>();
  #backup: Map<string, AccountFact> | null = null;
  readonly events = new ExpectedEvents();
  /** Since when this process judges by the present rules. */
  #judgingSince = Number.NEGATIVE_INFINITY;

  fact(account: string): AccountFact | undefined {
    return this.#live.get(account);
  }

  /** Whether the account is still read at the same address and with the same key. */
  isReadAs(asked: AccountSettings): boolean {
    const now = this.#setups.get(asked.id)?.settings;
    const words = ({ provider, baseUrl, credentials }: AccountSettings) =>
      [baseUrl ?? provider, ...Object.values(credentials).map((secret) => secret.reveal())].join(' ');
    return now !== undefined && words(now) === words(asked);
  }

  rule(account: string, rule: string): AnyRule | undefined {
    return this.#setups.get(account)?.rules.find((it) => it.id === rule);
  }

  rulesOf(account: string): readonly AnyRule[] {
    return this.#setups.get(account)?.rules ?? [];
  }

  currencyOf(account: string): string | null {
    return this.#setups.get(account)?.settings.currency ?? null;
  }

  intervalOf(account: string): number {
    return this.#setups.get(account)?.intervalMs ?? 0;
  }

  get longestInterval(): number {
    return Math.max(0, ...[...this.#setups.values()].map((setup) => setup.intervalMs));
  }

  /** A process takes over the committed state. Clocks may have moved by the time in which nobody watched. */
  booted(daemon: Daemon, it: Omit<KnownEnd, 'lastSign'>): void {
    this.#live = new Map(this.#durable);
    const signs = [...this.#live.values()].flatMap(({ polledAt, firstSeenAt }) => [
      ...(polledAt === null ? [] : [polledAt]),
      ...(firstSeenAt > it.now ? [] : [firstSeenAt]),
    ]);
    const end = { ...it, lastSign: signs.length === 0 ? null : Math.max(...signs) };
    this.events.forget();
    this.#mismatches.clear();
    this.configure(daemon.state, it.now, false);
    const { longestInterval } = this;
    for (const [id, fact] of this.#live) {
      const setup = this.#setups.get(id);
      if (setup !== undefined)
        this.#live.set(id, adoptAccount(daemon.state, { id, setup, fact, end, longestInterval }));
    }
  }

  /** Applies the settings that are in force. */
  configure(state: MonitorState, now: number, running: boolean): void {
    const { settings } = state;
    if (running) this.elapse(now);
    // An alert that a new rule finds overdue is overdue from now on.
    this.#judgingSince = now;
    this.#setups.clear();
    for (const account of settings.accounts) this.#setUp(state, settings, account, now);
    for (const id of [...this.#live.keys()]) if (!this.#setups.has(id)) this.#live.delete(id);
    if (running) this.elapse(now);
  }

  died(): void {
    for (const history of this.#histories.values()) history.crash();
    this.#softSeen.clear();
    this.#live = new Map(this.#durable);
    this.events.forget();
    this.#mismatches.clear();
  }

  taken(): void {
    this.#taken = new Map(this.#live);
    for (const history of this.#histories.values()) history.take();
  }

  committed(): void {
    this.#durable = this.#taken;
    for (const history of this.#histories.values()) history.commit();
  }

  backUp(): void {
    this.#backup = new Map(this.#durable);
    for (const history of this.#histories.values()) history.backUp();
  }

  restored(): void {
    if (this.#backup === null) return;
    for (const history of this.#histories.values()) history.restore();
    this.#durable = new Map(this.#backup);
    this.#live = new Map(this.#backup);
  }

  /** `answered`: the accounts whose answer came at this very instant. It is dated by the clock after the jump, which shows `now`. */
  shift(
    byMs: number,
    { answered, now }: { readonly answered: ReadonlySet<string>; readonly now: number },
  ): void {
    for (const [id, fact] of this.#live) {
      const alerts = new Map([...fact.alerts].map(([rule, alert]) => [rule, shifted(alert, byMs)]));
      const { reading } = fact;
      // A poll dated by a clock that was ahead moves back with the clock.
      const polledAt = fact.polledAt === null ? null : fact.polledAt + Math.min(0, byMs);
      if (answered.has(id) && reading !== null)
        this.#live.set(id, { ...fact, polledAt, reading: { ...reading, at: reading.at + byMs }, alerts });
      else this.#live.set(id, { ...fact, polledAt, unwatchedMs: fact.unwatchedMs + byMs, alerts });
    }
    this.events.shift(byMs);
    // When the clock is set back into the hours of a schedule, something may become overdue: it is so from now on.
    this.#judgingSince = now;
  }

  polled(account: string, outcome: Outcome, { now }: { readonly now: number }): void {
    const setup = this.#setups.get(account);
    const before = this.#live.get(account);
    if (setup === undefined || before === undefined) return;
    this.#elapseAccount(account, setup, now - tieMs);
    const fact = this.#live.get(account) ?? before;
    const reading = outcome.kind === 'ok' ? { at: now, ...outcome.answer } : null;
    if (reading !== null) this.#historyOf(account).add(reading, setup.intervalMs);
    let alerts: Map<string, AlertFact> | null = null;
    for (const rule of setup.rules) {
      const known = fact.alerts.get(rule.id) ?? resting;
      const next = this.#judgePoll(rule, known, { account, setup, fact, reading, outcome, now });
      if (next === known) continue;
      alerts ??= new Map(fact.alerts);
      alerts.set(rule.id, next);
    }
    this.#live.set(account, {
      address: fact.address,
      balances: fact.balances,
      firstSeenAt: fact.firstSeenAt,
      reading: reading ?? fact.reading,
      previous: reading === null ? fact.previous : comparableOf(fact, setup),
      unwatchedMs: reading === null ? fact.unwatchedMs : 0,
      outcome: outcome.kind,
      failures: reading === null ? fact.failures + 1 : 0,
      polledAt: now,
      alerts: alerts ?? fact.alerts,
    });
  }

  #judgePoll(rule: AnyRule, known: AlertFact, it: Polled & { readonly account: string }): AlertFact {
    const { account, setup, fact, reading, now } = it;
    if (isSoft(rule)) return known;
    if (needsReading(rule) && reading === null) {
      // From here on time decides nothing; a decision at about this instant may have come first.
      return isTie(known, timingOf(rule, setup), now) ? { ...known, doubt: true } : known;
    }
    if (rule.type !== 'top-up') return judgeAnswer(rule, known, it);
    const { currency } = setup.settings;
    this.events.read(account, rule, { reading, before: comparableOf(fact, setup), currency, now });
    return known;
  }

  elapse(now: number): void {
    for (const [id, setup] of this.#setups) this.#elapseAccount(id, setup, now);
  }

  /** Compares with the daemon, for all accounts or some. `at` is the simulation's time, `now` the daemon's. */
  compare(
    state: MonitorState,
    it: { readonly at: number; readonly now: number; readonly only?: ReadonlySet<string> },
  ): void {
    const ids = it.only ?? this.#setups.keys();
    for (const id of ids) {
      const setup = this.#setups.get(id);
      if (setup === undefined) continue;
      this.#elapseAccount(id, setup, it.now);
      const fact = this.#live.get(id);
      if (fact === undefined) continue;
      this.#compareReading(state, id, fact);
      for (const rule of setup.rules)
        this.#compareAlert(state, { id, fact: this.#live.get(id) ?? fact, rule, at: it.at });
    }
  }

  /** A new incident in a batch: the model must know a cause for it. */
  expectCause(incident: Incident): void {
    if (this.known.has(incident.id)) return;
    const { firedAt } = incident;
    const rule = this.rule(incident.account, incident.rule);
    const fact = this.#live.get(incident.account)?.alerts.get(incident.rule);
    const explained =
      rule === undefined ||
      isSoft(rule) ||
      fact?.doubt === true ||
      fact?.state === 'firing' ||
      // The alert ended and fired again before this incident was stored.
      fact?.changes.some((at) => Math.abs(at - firedAt) <= patienceMs) === true ||
      (fact?.firedAt != null && fact.firedAt <= firedAt + patienceMs && endOf(fact) >= firedAt - patienceMs);
    if (!explained) {
      const words = `${incident.id} of ${incident.account}/${incident.rule} fired at ${incident.firedAt}`;
      throw new Violation(
        'nothing is reported without a cause',
        `${words}, the model says ${JSON.stringify(fact)}`,
      );
    }
    this.known.add(incident.id);
  }

  #setUp(state: MonitorState, settings: Settings, account: AccountSettings, now: number): void {
    const own = state.accounts.get(account.id);
    const every = account.poll.kind === 'every' ? account.poll.everyMs : null;
    const setup: AccountSetup = {
      settings: account,
      rules: rulesOf(settings, account),
      intervalMs: every ?? own?.pollIntervalMs ?? 0,
      gapMs: () => every ?? own?.pollGapMs ?? 0,
    };
    this.#setups.set(account.id, setup);
    const fact = this.#live.get(account.id);
    const balances = account.balances.map(({ id }) => id);
    const none = {
      address: account.baseUrl,
      balances,
      firstSeenAt: now,
      reading: null,
      previous: null,
      unwatchedMs: 0,
      outcome: null,
      failures: 0,
      polledAt: null,
    };
    if (fact === undefined) {
      this.#live.set(account.id, { ...none, alerts: new Map() });
      return;
    }
    const isMoved = fact.address !== account.baseUrl;
    if (isMoved) this.#histories.delete(account.id);
    const isRenamed = ({ balance }: AnyRule): boolean => balance !== null && !fact.balances.includes(balance);
    const kept = [...fact.alerts].filter(([id]) =>
      setup.rules.some((rule) => rule.id === id && !isRenamed(rule) && !(isMoved && needsReading(rule))),
    );
    const same = isMoved ? { ...none, polledAt: fact.polledAt } : wholeFact(fact, balances);
    this.#live.set(account.id, { ...same, alerts: new Map(kept) });
  }

  #elapseAccount(id: string, setup: AccountSetup, now: number): void {
    const fact = this.#live.get(id);
    if (fact === undefined) return;
    let alerts: Map<string, AlertFact> | null = null;
    for (const rule of setup.rules) {
      if (isSoft(rule)) continue;
      const known = fact.alerts.get(rule.id);
      if (known === undefined && rule.type !== 'stale') continue;
      const next = elapseAlert(rule, known ?? resting, {
        setup,
        fact,
        now,
        judgingSince: this.#judgingSince,
      });
      if (next === (known ?? resting)) continue;
      alerts ??= new Map(fact.alerts);
      alerts.set(rule.id, next);
    }
    if (alerts !== null) this.#live.set(id, { ...fact, alerts });
  }

  /** Checks a soft rule only when its alert begins: while the alert recovers, its window has moved on. */
  #expectPossible(rule: AnyRule, id: string, alert: Alert | undefined, reading: Reading | null): void {
    const key = `${id}/${rule.id}`;
    const before = this.#softSeen.get(key);
    this.#softSeen.set(key, alert?.state ?? 'inactive');
    if (alert === undefined || reading === null || before !== 'inactive') return;
    if (alert.state === 'inactive' || alert.breachedSince !== reading.at) return;
    expectPossible({ rule, alert, history: this.#historyOf(id), intervalMs: this.intervalOf(id) }, reading);
  }

  #historyOf(account: string): History {
    const history = this.#histories.get(account) ?? new History();
    this.#histories.set(account, history);
    return history;
  }

  #compareReading(state: MonitorState, id: string, fact: AccountFact): void {
    const reading = state.accounts.get(id)?.poll.reading ?? null;
    const mine = fact.reading;
    if (reading === mine) return;
    if (
      reading !== null &&
      mine !== null &&
      Object.entries(mine.balances).every(([balance, micros]) => reading.balances[balance] === micros)
    )
      return;
    throw new Violation(
      'only a good answer changes a balance',
      `${id} has ${JSON.stringify(reading)}, the provider last answered ${JSON.stringify(mine)}`,
    );
  }

  #compareAlert(
    state: MonitorState,
    it: { readonly id: string; readonly fact: AccountFact; readonly rule: AnyRule; readonly at: number },
  ): void {
    const { id, fact, rule, at } = it;
    const key = `${id}/${rule.id}`;
    const alert = state.alerts.get(id, rule.id);
    const mine = fact.alerts.get(rule.id) ?? resting;
    if (alert?.incident != null) this.known.add(alert.incident);
    if (isSoft(rule)) this.#expectPossible(rule, id, alert, fact.reading);
    if (isSoft(rule) || rule.type === 'top-up') return;
    if (mine.doubt || alert?.flappingSince != null) {
      const next = { ...factOf(alert), doubt: alert?.flappingSince != null };
      this.#live.set(id, { ...fact, alerts: new Map(fact.alerts).set(rule.id, next) });
      this.#mismatches.delete(key);
      return;
    }
    if (agrees(mine, alert)) {
      this.#mismatches.delete(key);
      return;
    }
    const mismatch = this.#mismatches.get(key);
    const words = `${key} is ${alert?.state ?? 'inactive'}/${alert?.severity ?? ''}, but should be ${mine.state}/${mine.severity} (${JSON.stringify(mine)}; reading ${JSON.stringify(fact.reading)}; rule ${JSON.stringify(rule)})`;
    if (mismatch === undefined) this.#mismatches.set(key, { since: at, words });
    else if (at - mismatch.since > patienceMs) throw new Violation('alerts follow the readings', words);
  }
}

/** A reading from before a balance had its name tells only its own time. */
function wholeFact(fact: AccountFact, balances: readonly string[]): AccountFact {
  const { reading } = fact;
  if (reading === null || balances.every((id) => id in reading.balances)) return { ...fact, balances };
  return { ...fact, balances, reading: null, previous: null, firstSeenAt: reading.at };
}

/** The reading with which the next one is compared. */
function comparableOf({ reading, previous }: AccountFact, { settings }: AccountSetup): Reading | null {
  return reading === null || isInCurrency(settings, reading) ? reading : previous;
}

/** When the alert last began or ceased to fire. */
function endOf({ changes }: AlertFact): number {
  return changes.at(-1) ?? Number.NEGATIVE_INFINITY;
}
