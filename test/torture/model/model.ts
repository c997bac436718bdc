import type { Daemon } from '../../../src/daemon/daemon.ts';
import type { Incident } from '../../../src/domain/alert.ts';
import { ownOf } from '../../../src/domain/own.ts';
import type { Outcome, PollRecord } from '../../../src/domain/reading.ts';
import type { AccountSettings } from '../../../src/domain/settings.ts';
import { auditOf } from '../../../src/engine/audit.ts';
import type { MonitorState } from '../../../src/engine/state.ts';
import type { Delivery } from '../../../src/ports/channel.ts';
import type { Calendar } from '../../../src/ports/clock.ts';
import type { Batch, DamagedRecord } from '../../../src/ports/store.ts';
import { damagedRecordsRule } from '../../../src/rules/self-alert-kinds.ts';
import type { SqliteStore } from '../../../src/store/sqlite/port.ts';
import { isAllStored } from '../../support/stored.ts';
import type { Observer, Send } from '../observer.ts';
import { ReceiverNames } from '../receiver-names.ts';
import type { Scenario } from '../scenario.ts';
import { hashText } from '../seeded.ts';
import type { SimStorage } from '../sim-storage.ts';
import { type Story, Violation } from '../story.ts';
import { AlertBook } from './alert-book.ts';
import { DurableMap } from './durable-map.ts';
import { Duties } from './duties.ts';
import { expectSame, fingerprint } from './fingerprint.ts';
import { Ledger, type Moment } from './ledger.ts';
import { LeftReceivers } from './left-receivers.ts';
import { OrdersGiven } from './orders-given.ts';
import { Pacing } from './pacing.ts';
import { Receivers } from './receivers.ts';
import { restoreLoaded } from './restore-awake.ts';
import { inhibited, silenced } from './routing.ts';
import { expectSaysWhatIs, isPushed } from './said.ts';
import { SelfAlerts } from './self-alerts.ts';

const reviewEveryMs = 10 * 60_000;
/** A database that is locked for so long has not failed yet, and one attempt takes its time. */
const patienceMs = 6000;
/** A message that has been tried for so long is overdue. */
const overdueMs = 65_000;
/** By then a receiver that needs repeats has forgotten an alert. */
const forgetsMs = 15 * 60_000;

/** Watches a run from the outside, knows what really happened, and reports when the daemon breaks a promise. */
export class Model implements Observer {
  /** The machine that does the work now. */
  machine: {
    readonly daemon: Daemon | null;
    readonly stopping: boolean;
    readonly refused: string | null;
  } | null = null;
  /** Orders of an unknown kind, by id. */
  readonly ordersOfTomorrow = new Set<string>();
  readonly #scenario: Scenario;
  readonly #story: Story;
  readonly #calendar: Calendar;
  /** When an incident was last seen silenced or inhibited. */
  readonly #muted = new Map<string, number>();
  readonly #now: () => number;
  readonly #storage: SimStorage;
  readonly #book = new AlertBook();
  readonly #ledger = new Ledger();
  readonly #duties: Duties;
  readonly #pacing: Pacing;
  readonly #own = new SelfAlerts();
  readonly #names: ReceiverNames;
  readonly #receivers = new Receivers();
  readonly #left = new LeftReceivers();
  readonly given = new OrdersGiven();
  /** The open incident of each alert, by the daemon's own records. */
  readonly #open = new DurableMap<string>();
  /** When a process last began to count time, by the clock of its records. */
  readonly #countsFrom = new DurableMap<number>();
  /** Incidents that were acknowledged; the acknowledgement may have been removed since. */
  readonly #had = new DurableMap<true>();
  readonly #stored = [this.#open, this.#countsFrom, this.#had] as const;
  readonly #incidents = new Set<string>();
  /** The alert of each incident. */
  readonly #taken = new Map<string, string>();
  /** Pushed readings that the model has seen. */
  readonly #pushed = new WeakSet<PollRecord>();
  /** Records that were damaged, by their names. */
  readonly #damaged = new Set<string>();
  #store: SqliteStore | null = null;
  #before: Map<string, string> | null = null;
  #beforeAt = 0;
  #endedAt: number | null = null;
  /** When a process last ended because it was told to. */
  #stoppedAt: number | null = null;
  /** When balances were last read, and of which accounts. */
  #answered: { readonly at: number; readonly accounts: ReadonlySet<string> } = { at: 0, accounts: new Set() };
  #wallMovedAt = Number.NEGATIVE_INFINITY;
  #movedAt = Number.NEGATIVE_INFINITY;
  #movedWhileDown = false;
  #bootedAt = 0;
  #configuredAt = 0;
  #polledAt = 0;
  #pingedAt = 0;
  #calmAt = 0;
  /** The process stood still and has not looked at the clock since: its first writes prove nothing about the time in between. */
  #napUnseen = false;
  /** Since when the database refuses batches. */
  #refusedSince = 0;
  /** The batch of the last attempt. */
  #tried: Batch | null = null;
  #restored = false;
  #settingsChanged = false;
  #reviewedAt = 0;
  #kills = 0;
  hasBackup = false;

  constructor(parts: {
    readonly scenario: Scenario;
    readonly story: Story;
    readonly calendar: Calendar;
    readonly now: () => number;
    readonly storage: SimStorage;
  }) {
    this.#scenario = parts.scenario;
    this.#story = parts.story;
    this.#calendar = parts.calendar;
    this.#now = parts.now;
    this.#storage = parts.storage;
    this.#duties = new Duties({ calendar: parts.calendar, book: this.#book, ledger: this.#ledger });
    this.#pacing = new Pacing(parts.scenario.settings);
    this.#names = new ReceiverNames(parts.scenario);
  }

  get counts() {
    return {
      polls: this.#pacing.polls,
      sends: this.#ledger.sends,
      incidents: this.#incidents.size,
      kills: this.#kills,
    };
  }

  booted(daemon: Daemon, store: SqliteStore, lost: readonly DamagedRecord[]): void {
    const now = daemon.now();
    this.#story.note(2, () => `-- started, wall clock ${new Date(now).toISOString()}`);
    this.#store = store;
    if (lost.length > 0) this.#lose(daemon, lost);
    const believed = this.#restored || this.#movedWhileDown || this.#endedAt === null;
    if (this.#movedWhileDown) {
      this.#pacing.forget();
      this.#ledger.forgetWaits();
      this.#duties.restored();
    }
    if (this.#before !== null && !believed && !this.#settingsChanged) {
      const restored = restoreLoaded(daemon.state, store, now);
      expectSame(this.#before, fingerprint(restored, now, this.#beforeAt));
    }
    this.#book.booted(daemon, {
      believed,
      now,
      endedAt: this.#endedAt,
      stoppedAt: this.#stoppedAt,
      countedFrom: this.#countsFrom.get('') ?? null,
      lost: new Set(
        lost.filter(({ source }) => source === 'alert').map(({ key, second }) => `${key}/${second}`),
      ),
    });
    this.#countsFrom.set('', now);
    this.#configure(daemon);
    this.#pacing.booted(this.#now());
    this.#ledger.booted();
    this.#ledger.awaitsPolls(this.#now(), now - (this.#endedAt ?? now));
    this.#ledger.onTime.disturb(this.#now());
    this.#own.booted();
    this.#receivers.awakes(this.#now());
    this.#duties.disturb(this.#now());
    this.#bootedAt = this.#now();
    this.#napUnseen = false;
    this.#restored = false;
    this.#settingsChanged = false;
    this.#before = null;
  }

  /** A stored record is damaged now, unless the daemon writes it again. */
  damaged(record: string): void {
    this.#damaged.add(record);
  }

  /** Only the records that could not be read are forgotten, and people must be told of the loss. */
  #lose({ state }: Daemon, lost: readonly DamagedRecord[]): void {
    this.#before = null;
    for (const { source, key, second } of lost) {
      const name = `${source} ${second === null ? key : `${key}/${second}`}`;
      this.#story.note(14, () => `  ${name} cannot be read`);
      if (!this.#damaged.has(name)) throw new Violation('what is sound is read', name);
      if (source === 'message') this.#ledger.lose(key);
      if (source === 'incident') this.#loseIncident(key, state.incidents.has(key));
    }
    const isTold = [...state.incidents.values()].some(({ rule }) => rule === damagedRecordsRule);
    if (!isTold) throw new Violation('damage is told', lost.map(({ key }) => key).join(', '));
  }

  #loseIncident(id: string, isOpen: boolean): void {
    for (const part of [this.#duties, this.#receivers, this.#ledger.readers]) part.lose(id);
    if (isOpen) return;
    for (const [alert, incident] of [...this.#open.entries()]) {
      if (incident !== id) continue;
      this.#open.forget(alert);
      this.#receivers.forgetAlert(alert);
    }
  }

  died(clean: boolean): void {
    this.#kills++;
    if (clean) this.#stoppedAt = this.#endedAt;
    this.#story.note(3, () => (clean ? '-- stopped' : '-- killed'));
    this.#book.died();
    this.#ledger.died();
    this.#pacing.died();
    this.#duties.died();
    this.#receivers.died(this.#now());
    this.#left.died();
    this.given.died();
    for (const map of this.#stored) map.crash();
    this.#store = null;
  }

  /** If everything is saved and nothing is under way, the next process must know exactly what this one knew. */
  dying(): void {
    this.#before = null;
    const daemon = this.machine?.daemon ?? null;
    const moment = this.#moment();
    if (moment !== null) this.#ledger.expectNoneLate(moment);
    if (daemon === null || !isAllStored(daemon.state) || daemon.state.underWay.size > 0) return;
    this.#beforeAt = daemon.now();
    this.#before = fingerprint(daemon.state, this.#beforeAt);
  }

  pinged(): void {
    const isPatient = !this.#ledger.isUnheard && this.#now() - this.#refusedSince <= patienceMs;
    if (this.#ledger.isFailing && !isPatient)
      this.broken('the heartbeat says that all is stored', 'it is not');
    this.#pingedAt = this.#now();
    const now = this.machine?.daemon?.now() ?? 0;
    // Counted from a day before the message is given up, because that instant moves with the clock.
    const late = this.#ledger.pending.find(
      (row) =>
        row.attempts > 0 && now - (row.giveUpAt - 24 * 3_600_000) > overdueMs && !this.#ledger.hasEnded(row),
    );
    if (late !== undefined && !this.#ledger.isFailing)
      this.broken('the heartbeat says that no message is overdue', `${late.id} to ${late.channel} is`);
  }

  heldBack(): void {
    // The product would look again within a second; here the daemon may have begun its longest sleep.
    this.#ledger.onTime.disturb(this.#now() + this.#scenario.sleepMs);
  }

  trespassed(what: string): void {
    this.broken('who does not own the accounts does nothing', what);
  }

  broken(rule: string, what: string): void {
    throw new Violation(rule, what);
  }

  pollBegan(account: string, mayBeUnstored: boolean): void {
    const moment = this.#moment();
    if (moment === null) return;
    this.#story.note(hashText(account), () => `poll ${account}`);
    this.#pacing.began(account, { ...moment, mayBeUnstored });
  }

  pollEnded(asked: AccountSettings, outcome: Outcome): void {
    const account = asked.id;
    const moment = this.#moment();
    if (moment === null) return;
    this.#story.note(
      hashText(outcome.kind),
      () => `  ${account}: ${outcome.kind === 'ok' ? JSON.stringify(outcome.answer) : outcome.kind}`,
    );
    this.#polledAt = moment.at;
    // The answer changes what is silenced or inhibited: this is the last look at the state before it.
    this.#lookForMuted(account);
    this.#ledger.read(account);
    // An answer from another address, or for another key, says nothing about the present one.
    const isOfPresent = this.#book.isReadAs(asked);
    if (isOfPresent) {
      this.#duties.polled(account, outcome, moment.now);
      this.#book.polled(account, outcome, moment);
      this.given.polled(account, outcome, moment.now);
    }
    if (isOfPresent && outcome.kind === 'ok') {
      const already = this.#answered.at === moment.at ? this.#answered.accounts : [];
      this.#answered = { at: moment.at, accounts: new Set([...already, account]) };
    }
    this.#pacing.ended(account, outcome, { ...moment, intervalOf: (id) => this.#book.intervalOf(id) });
  }

  beforeCommit(stored: Batch): void {
    const daemon = this.machine?.daemon ?? null;
    const moment = this.#moment();
    if (daemon === null || moment === null) return;
    const batch = this.#names.batch(daemon.state.settings, stored);
    const state = this.#names.state(daemon.state);
    for (const { account, poll } of batch.polls) this.#takePushed(state, account, poll);
    const touched = new Set([...batch.accounts, ...batch.alerts].map((it) => it.account));
    if (!this.#napUnseen) this.#book.elapse(moment.now);
    for (const incident of batch.incidents) {
      // An incident that is over may be stored again.
      const isOld = incident.resolvedAt !== null && this.#incidents.has(incident.id);
      if (!incident.event && !isOld && !incident.account.startsWith('@')) this.#book.expectCause(incident);
    }
    if (!this.#napUnseen) this.#book.compare(state, { ...moment, only: touched });
    for (const incident of batch.incidents) {
      this.#follow(incident, state, moment);
      this.#duties.followed(incident, moment.at);
      this.#receivers.followed(incident, moment.at);
      this.#left.followed(incident, moment.at);
    }
    this.#duties.changed(
      batch.alerts.map((it) => `${it.account}/${it.rule}`),
      moment.at,
    );
    // Whatever happens while a batch is retried is in the next batch.
    const isAgain = batch === this.#tried;
    if (!isAgain) this.#book.events.expectNothingLeft(moment.now);
    this.#tried = batch;
    this.#ledger.onTime.storing(moment.at);
    this.#lookForMuted();
    this.given.follow(state, batch, moment.now);
    this.#enqueue(batch, state, moment);
    this.#review(state, moment, isAgain);
    this.#ledger.taken(moment.now);
    this.#duties.taken(state);
    for (const part of [this.#book, this.#receivers, this.#left, this.given]) part.taken();
    this.#pacing.taken(batch);
    for (const map of this.#stored) map.take();
  }

  /** Also finds incidents that are muted only between two batches, because their waiting notifications are retracted too. */
  #lookForMuted(account?: string): void {
    const state = this.machine?.daemon?.state;
    const moment = this.#moment();
    if (state === undefined || moment === null) return;
    const heard = { state, calendar: this.#calendar, book: this.#book, now: moment.now };
    for (const incident of state.incidents.values())
      if (
        (account ?? incident.account) === incident.account &&
        (silenced(state, this.#calendar, incident, moment.now) || inhibited(heard, incident))
      )
        this.#muted.set(incident.id, moment.at);
  }

  #enqueue(batch: Batch, state: MonitorState, moment: { readonly at: number; readonly now: number }): void {
    const known = new Map(batch.messages.map((row) => [row.id, this.#ledger.knownItems(row)]));
    this.#ledger.batch(batch, state.settings, { ...moment, wasMuted: (id) => this.#muted.has(id) });
    for (const message of batch.messages) {
      const from = known.get(message.id) ?? 0;
      this.#duties.enqueued(state, { message, from, ...moment });
      for (const item of message.items.slice(from)) {
        const alert = `${item.kind} ${item.account}/${item.rule} (${item.incident})`;
        this.#story.note(4, () => `    ${message.channel} <- ${alert} in ${message.id}`);
      }
    }
  }

  /** A pushed reading shows in the first batch that has it. That batch may be tried more than once. */
  #takePushed(state: MonitorState, account: string, poll: PollRecord): void {
    if (poll.reading === null || !isPushed(state, account) || this.#pushed.has(poll)) return;
    this.#pushed.add(poll);
    const { balances, currency } = poll.reading;
    const outcome = { kind: 'ok', answer: { balances, currency }, durationMs: 0, usage: {} } as const;
    this.#story.note(13, () => `  ${account}: ${JSON.stringify(poll.reading)} was pushed`);
    this.#duties.polled(account, outcome, poll.at);
    this.#book.polled(account, outcome, { now: poll.at });
    this.given.polled(account, outcome, poll.at);
  }

  committed(_batch: Batch, stored: boolean): void {
    const moment = this.#moment() ?? { at: this.#now(), now: this.#now() };
    if (!stored) this.#story.note(5, () => '  (not stored)');
    if (!stored && !this.#ledger.isFailing) this.#refusedSince = this.#now();
    this.#ledger.committed(stored);
    this.#ledger.onTime.stored(moment.at);
    this.#own.committed(stored, moment);
    if (!stored) return;
    this.#book.committed();
    this.#pacing.committed();
    this.#duties.committed();
    this.#receivers.committed();
    this.#channelsStored();
    this.given.committed();
    for (const map of this.#stored) map.commit();
    // From here on the stored times are by the clock of this process.
    if (this.#movedAt < this.#bootedAt) this.#movedWhileDown = false;
    this.#endedAt = this.machine?.daemon?.now() ?? this.#endedAt;
    // The writes of a process that stops show when it stopped, even if it is killed before it is done.
    if (this.machine?.stopping === true) this.#stoppedAt = this.#endedAt;
  }

  commitAnswered(heard: boolean): void {
    this.#story.note(7, () => (heard ? '  (known to be stored)' : '  (nobody knows whether it is stored)'));
    this.#ledger.commitAnswered(heard, this.#now());
    if (heard) {
      this.#own.settled();
      return;
    }
    const moment = this.#moment() ?? { at: this.#now(), now: this.#now() };
    this.#own.committed(false, moment);
    // Changes that time makes meanwhile are in a later batch.
    if (!this.#napUnseen) this.#book.elapse(moment.now);
  }

  sending(send: Send): void {
    const moment = this.#moment();
    if (moment === null) return;
    const { message } = send;
    this.#story.note(
      hashText(message.id),
      () => `    ${send.channel}: sending ${message.id} (${summary(message)})`,
    );
    this.#names.sent(message.id, send.channel);
    const present = this.machine?.daemon?.state;
    if (present !== undefined && !this.#ledger.isFailing && this.#ledger.isNews(send))
      this.#duties.expectMaySay(present, send, moment);
    // While it is unknown whether a batch is stored, no batch shows what was muted since.
    if (this.#ledger.isUnheard) this.#lookForMuted();
    const mutedAt = (id: string) => this.#muted.get(id) ?? Number.NEGATIVE_INFINITY;
    const intervalOf = (id: string) => this.#book.intervalOf(id);
    this.#ledger.sending(send, { ...moment, mutedAt, intervalOf });
    if (this.#ledger.isFailing) this.#receivers.toldFromMemory(send);
    if (present !== undefined)
      expectSaysWhatIs(send, present, { book: this.#book, isUnheard: this.#ledger.isUnheard });
    if (message.kind !== 'incidents') return;
    for (const item of message.items) {
      const { id, account } = item.incident;
      if (item.incident.event || account.startsWith('@') || this.#book.known.has(id)) continue;
      if (this.#ledger.isUnheard) {
        // A pushed reading shows in a batch that is known to be stored.
        const state = this.machine?.daemon?.state;
        if (state !== undefined && isPushed(state, account)) continue;
        this.#book.elapse(moment.now);
        this.#book.expectCause(item.incident);
        continue;
      }
      throw new Violation(
        'nothing is reported without a cause',
        `${id} of ${account}/${item.rule} never fired`,
      );
    }
  }

  arrived(send: Send): void {
    const what = send.isFarewell ? ` as the last (${summary(send.message)})` : '';
    this.#story.note(6, () => `    ${send.channel}: ${send.message.id} arrived${what}`);
    if (!send.isFarewell && !send.isRound) this.#ledger.readers.arrived(send);
    this.#receivers.arrived(send, this.#now());
  }

  answered(send: Send, delivery: Delivery): void {
    this.#story.note(
      hashText(delivery.kind),
      () => `    ${send.channel}: ${send.message.id} ${JSON.stringify(delivery)}`,
    );
    if (send.isRound) return void this.#own.roundAnswered(send, delivery, this.#now());
    this.#ledger.answered(send, delivery, this.#now());
    this.#receivers.answered(send, delivery);
    if (send.message.recipients === undefined && delivery.kind === 'delivered')
      this.#duties.delivered(send, this.#now());
  }

  jumped(byMs: number): void {
    this.#napUnseen = false;
    const { at, now } = this.#moment() ?? { at: this.#now(), now: this.#now() };
    this.#story.note(7, () => `  the daemon sees a jump of ${byMs} ms`);
    if (at - this.#wallMovedAt > this.#scenario.sleepMs + 2 * 86_400_000) {
      throw new Violation('a clock that did not jump is believed', `the daemon saw a jump of ${byMs} ms`);
    }
    this.#book.shift(byMs, {
      answered: this.#answered.at === at ? this.#answered.accounts : new Set(),
      now,
    });
    this.#countsFrom.set('', now);
    this.#pacing.shift(byMs, at);
    this.#receivers.jumped(at);
    this.#duties.disturb(at);
    this.#ledger.jumped(byMs, at);
    this.#ledger.awaitsPolls(at, byMs);
  }

  logged(level: string, fields: object, message: string): void {
    if (level === 'debug' && message === 'poll') return;
    if (JSON.stringify(fields).includes('secret-'))
      throw new Violation('no secret is shown', `in the log: ${message}`);
    this.#story.note(8, () => `      log ${level}: ${message} ${JSON.stringify(fields)}`);
  }

  wallMoved(byMs: number): void {
    this.#wallMovedAt = Math.max(this.#wallMovedAt, this.#now() + Math.abs(byMs));
    this.#movedAt = this.#now();
    this.#duties.disturb(this.#now());
    this.#ledger.onTime.disturb(this.#now());
    this.#pacing.excuse(this.#now());
    // A process that dies before it noticed leaves times by the clock before the change.
    this.#movedWhileDown = true;
  }

  /** The daemon and its timers stand still for so long. */
  sleeps(forMs: number): void {
    this.wallMoved(forMs);
    this.#own.sleeps(this.#now(), forMs);
    this.#napUnseen = true;
    this.#duties.disturb(this.#now() + forMs);
    this.#ledger.onTime.disturb(this.#now() + forMs);
    this.#receivers.awakes(this.#now() + forMs);
    this.#pacing.excuse(this.#now() + forMs);
  }

  storageFails(): void {
    this.#duties.disturb(this.#now());
  }

  backedUp(): void {
    this.hasBackup = true;
    this.#book.backUp();
    this.#ledger.backUp();
    this.#pacing.backUp();
    for (const map of this.#stored) map.backUp();
  }

  restored(): void {
    this.#restored = true;
    this.#book.restored();
    this.#ledger.restored();
    this.#receivers.restored();
    this.#left.restored();
    this.given.restored();
    this.#duties.restored();
    this.#pacing.restored();
    for (const map of this.#stored) map.restore();
    this.#pacing.forget();
  }

  reloaded(): void {
    const daemon = this.machine?.daemon ?? null;
    this.#settingsChanged = true;
    if (daemon === null || this.machine?.stopping === true) return;
    this.#settingsChanged = false;
    this.#book.configure(daemon.state, daemon.now(), true);
    this.#configure(daemon);
    this.#duties.disturb(this.#now());
  }

  /** Channels that were added or removed are notified from the beginning; an event put out for one goes out for the others. */
  #channelsStored(): void {
    const { readers } = this.#ledger;
    const incidents = [...(this.machine?.daemon?.state.incidents.values() ?? [])];
    const { moved, excused } = this.#left.committed();
    for (const name of excused) this.#receivers.begin(name);
    for (const [name, at] of moved) {
      readers.leave(name, at, this.#now());
      for (const { id, event } of incidents) if (event) readers.mayHaveRead(`${name}/${id}`);
    }
  }

  /** A process begins, or applies another configuration from here on. */
  #configure({ state }: Daemon): void {
    this.#configuredAt = this.#now();
    this.given.configured(state.settings);
    this.#pacing.configure(state.settings, this.#now());
    const names = this.#names.state(state).settings.channels.map(({ name }) => name);
    for (const name of this.#left.configured(names, this.#now()))
      this.#ledger.readers.comeBack(name, this.#now());
  }

  /** The next owner has another configuration than the last one. */
  reconfigured(): void {
    this.#settingsChanged = true;
  }

  configurationRefused(): void {
    this.#own.refused(this.#now());
  }

  operated(): void {
    this.#pacing.excuse(this.#now());
  }

  /** From here on there are no more faults. */
  calmBegins(): void {
    this.#story.note(9, () => '== all faults end');
    this.#calmAt = this.#now();
  }

  /** Whether nothing is left to do: no message waits, no channel is given up, and all is stored. */
  get isAtRest(): boolean {
    const daemon = this.machine?.daemon ?? null;
    if (daemon === null || daemon.committer.failing || !isAllStored(daemon.state)) return false;
    return this.#ledger.lastDead.size === 0 && [...this.#ledger.pending].length === 0;
  }

  /** Final checks: everything has settled, or never will. */
  finish(): void {
    const daemon = this.machine?.daemon ?? null;
    const moment = this.#moment();
    if (daemon === null || moment === null)
      throw new Violation('it comes up again', 'no process runs at the end');
    const state = this.#names.state(daemon.state);
    this.#book.compare(state, moment);
    this.#duties.expectNotified(state);
    this.#duties.review(state, moment);
    this.#expectDrained(daemon, moment);
    this.#expectPing(state, moment);
    this.#expectEndsHeard(state, moment);
    this.#expectShown(state, moment, this.#storedIncidents(state));
    this.#expectNamed(state, !this.hasBackup);
    this.given.expectOnce(state, (id) => this.#had.has(id));
    if (this.#storage.bytes().includes('secret-'))
      throw new Violation('no secret is shown', 'in the database');
  }

  /** An order of an unknown kind is reported once, whoever has the accounts, and never done. */
  #expectNamed(state: MonitorState, isLast: boolean): void {
    const details = auditOf(state, { since: 0, before: Number.POSITIVE_INFINITY, limit: 10_000 })
      .filter(({ action }) => action === 'tomorrow')
      .map(({ detail }) => detail);
    for (const id of this.ordersOfTomorrow) {
      const times = details.filter((detail) => detail.includes(`"${id}"`)).length;
      if (times > 1 || (isLast && times === 0))
        throw new Violation('an order that nobody knows is named once', `${id}: ${times} times`);
    }
  }

  /** The newest run of each report was put out, unless it is older than the report's configuration. */
  #expectReported({ notes, settings }: MonitorState, { at, now }: Moment): void {
    if (at - Math.max(this.#configuredAt, this.#wallMovedAt) < reviewEveryMs) return;
    for (const { id, cron, timezone } of settings.reports) {
      const due = this.#calendar.previous(cron, timezone, now - patienceMs);
      if (due !== null && Number(notes.get(`report:${id}`)?.value) < due)
        throw new Violation('a report is not lost', `${id} of ${new Date(due).toISOString()}`);
    }
  }

  /** A working daemon sends its heartbeat, so that nobody takes it for dead. */
  #expectPing({ settings: { heartbeat } }: MonitorState, { at }: Moment): void {
    if (heartbeat === null || !this.isAtRest) return;
    const since = Math.max(
      this.#pingedAt,
      this.#bootedAt,
      this.#configuredAt,
      this.#wallMovedAt,
      this.#calmAt,
    );
    const silentMs = at - since - heartbeat.everyMs - this.#book.longestInterval;
    if (silentMs > 2 * reviewEveryMs)
      throw new Violation('the heartbeat goes out while all is well', `not for ${at - this.#pingedAt} ms`);
  }

  #expectDrained(daemon: Daemon, moment: Moment): void {
    for (const row of this.#ledger.pending) {
      if (moment.now - row.createdAt < 15 * 60_000) continue;
      throw new Violation(
        'the outbox drains',
        `${row.id} to ${row.channel} is still there: ${row.lastError}`,
      );
    }
    if (daemon.committer.failing) {
      throw new Violation('everything known is stored', 'changes were not committed');
    }
  }

  /** Readers that were notified of a firing incident have been notified of its end. */
  #expectEndsHeard(state: MonitorState, moment: Moment): void {
    const stored = this.#storedIncidents(state);
    for (const key of this.#ledger.readers.heardKeys()) {
      const [channel = '', id = ''] = key.split('/');
      const incident = state.incidents.get(id) ?? stored.get(id) ?? null;
      if (incident === null || incident.event || incident.resolvedAt === null) continue;
      if (!state.settings.channels.some((it) => it.name === channel)) continue;
      if (this.#ledger.readers.heard(channel, id).has('resolved') || this.#ledger.lastDead.has(channel))
        continue;
      if (moment.now - incident.resolvedAt < 15 * 60_000) continue;
      if (silenced(state, this.#calendar, incident, moment.now)) continue;
      // The process that sent the notification could not store it and died, or an older backup was restored.
      const isUnknown = this.#receivers.isForgotten(id) || this.#receivers.isOlder(id);
      if (isUnknown && ownOf(incident.notified, channel) === undefined) continue;
      throw new Violation('whoever heard of it hears its end', `${key}: ${JSON.stringify(incident)}`);
    }
  }

  #storedIncidents({ settings }: MonitorState): ReadonlyMap<string, Incident> {
    const incidents = this.#names.incidents(settings, this.#store?.incidents({}) ?? []);
    return new Map(incidents.map((incident) => [incident.id, incident]));
  }

  #expectShown(state: MonitorState, moment: Moment, stored: ReadonlyMap<string, Incident> = new Map()): void {
    const parts = { state, calendar: this.#calendar, ledger: this.#ledger, left: this.#left };
    const { channelWeather } = this.#scenario;
    const isFailing = (name: string): boolean =>
      channelWeather.some(
        ({ channel, from, until }) => channel === name && from <= moment.at && moment.at < until + forgetsMs,
      );
    this.#receivers.expectTrue({ ...parts, ...moment, stored: (id) => stored.get(id), isFailing });
  }

  #follow(incident: Incident, state: MonitorState, moment: Moment): void {
    if (incident.rule === damagedRecordsRule) {
      this.#duties.expectPutOut(state, incident, moment);
      return;
    }
    if (incident.acknowledgement !== null) this.#had.set(incident.id, true);
    const { by = '' } = incident.acknowledgement ?? {};
    const meant = by.startsWith('late ') ? this.#taken.get(by.slice('late '.length)) : undefined;
    this.#taken.set(incident.id, `${incident.account}/${incident.rule}`);
    if (meant === `${incident.account}/${incident.rule}` && by !== `late ${incident.id}`)
      throw new Violation('an order is for the incident that was seen', `${by} took ${incident.id}`);
    if (incident.event) {
      this.#book.events.happened(incident, moment.now);
      return;
    }
    const key = `${incident.account}/${incident.rule}`;
    const open = this.#open.get(key);
    if (incident.resolvedAt === null) {
      if (open !== undefined && open !== incident.id) {
        throw new Violation('one incident at a time', `${key} has ${open} and ${incident.id} open`);
      }
      if (open === undefined) {
        this.#story.note(10, () => `  incident ${incident.id} of ${key} opens (${incident.severity})`);
        if (!this.#incidents.has(incident.id)) {
          this.#own.opened(incident, { state, book: this.#book, ledger: this.#ledger, ...moment });
        }
      }
      this.#incidents.add(incident.id);
      this.#open.set(key, incident.id);
    } else if (open === incident.id) {
      this.#story.note(11, () => `  incident ${incident.id} of ${key} ends (${incident.resolution?.kind})`);
      this.#open.delete(key);
    }
  }

  #review(state: MonitorState, moment: Moment, isAgain: boolean): void {
    if (this.#napUnseen || moment.at - this.#reviewedAt < reviewEveryMs) return;
    this.#reviewedAt = moment.at;
    this.#book.compare(state, moment);
    if (!isAgain) this.#duties.expectNotified(state);
    this.#duties.review(state, moment);
    this.#own.review(state, moment.at, this.machine?.refused ?? null);
    this.#ledger.expectNoneLate(moment);
    this.#expectNamed(state, false);
    this.#expectReported(state, moment);
    this.given.expectOnce(state, null);
    this.#expectShown(state, moment);
    this.#pacing.expectPolled(moment.at, ({ poll }) => {
      if (poll.kind === 'every') return poll.everyMs;
      const next = this.#calendar.next(poll.cron, poll.timezone, moment.now) ?? moment.now;
      const last = this.#calendar.previous(poll.cron, poll.timezone, moment.now) ?? moment.now;
      return Math.max(next - last, 4 * 86_400_000);
    });
    // A clock change of long ago has been noticed, and no poll from before it dates the end of a process.
    const isSeen = moment.at > this.#wallMovedAt + 2 * this.#scenario.sleepMs;
    if (isSeen && this.#polledAt > this.#wallMovedAt) this.#movedWhileDown = false;
  }

  #moment(): Moment | null {
    const daemon = this.machine?.daemon ?? null;
    return daemon === null ? null : { at: this.#now(), now: daemon.now() };
  }
}

function summary(message: Send['message']): string {
  if (message.kind !== 'incidents') return message.kind;
  return message.items
    .map((it) => `${it.accountName}/${it.rule} ${it.kinds.join('+')} ${it.severity}`)
    .join(', ');
}
