import type { Incident } from '../domain/alert.ts';
import type { Settings } from '../domain/settings.ts';
import { minuteMs } from '../domain/time.ts';
import { followChannels } from '../engine/channel-changes.ts';
import { recordDelivery, type Sent, unsent, wasTried } from '../engine/delivery-ended.ts';
import { keepIncident } from '../engine/incidents.ts';
import { queueOf } from '../engine/queue.ts';
import type { MonitorState } from '../engine/state.ts';
import { forgetTest, noteTest, owedTests, stageOf } from '../engine/test-alert.ts';
import { endTurn } from '../engine/turn.ts';
import { type Channel, whyMissed } from '../ports/channel.ts';
import type { StartedTest, ToldChannel } from '../ports/orders.ts';
import { type ComposeDependencies, composeFarewells, type Farewells } from './compose.ts';
import type { DaemonParts } from './daemon-dependencies.ts';
import { Dispatcher } from './dispatcher.ts';

/** The test resolves this long after the last channel's notification is due. */
const lastsMs = minuteMs;
/** The longest time for which the person who ordered the test waits for the receivers' answers. */
const answerMs = minuteMs / 3;

type TestDependencies = Omit<ConstructorParameters<typeof Dispatcher>[0], 'ended'> & {
  readonly wake: () => void;
};

/** A test incident under way: its routes, groups, channels and retries are real, but it has a state of its own. */
export class TestAlert {
  readonly id: string;
  readonly started: StartedTest;
  readonly #stage: MonitorState;
  readonly #dispatcher: Dispatcher;
  readonly #parts: TestDependencies;
  readonly #told = new Map<string, ToldChannel>();
  readonly #answered = Promise.withResolvers<readonly ToldChannel[]>();
  #resolvesAt: number;
  #answerBy: number;

  constructor(parts: TestDependencies, incident: Incident, channels: readonly Channel[]) {
    const now = parts.now();
    this.id = incident.id;
    this.#parts = parts;
    this.#stage = stageOf(parts.state, incident, now);
    const ended = (sent: Sent) => this.#ended(sent, parts.now());
    this.#dispatcher = new Dispatcher({ ...parts, state: this.#stage, acknowledgeUrl: () => null, ended });
    this.#dispatcher.adopt(channels);
    endTurn(this.#stage, now);
    const due = [...this.#stage.messages.values()].map(({ channel, dueAt }) => {
      this.#told.set(channel, { channel, delivered: null, reason: null });
      return dueAt;
    });
    const lastAt = Math.max(now, ...due);
    this.#resolvesAt = due.length === 0 ? now : lastAt + lastsMs;
    this.#answerBy = Math.min(lastAt, now + answerMs) + answerMs;
    this.started = { incident, resolvesAt: this.#resolvesAt, told: this.#answered.promise };
    this.#answerOnceTold();
  }

  get running(): number {
    return this.#dispatcher.running;
  }

  get nextAt(): number {
    const resolvesAt = this.#isResolved ? Number.POSITIVE_INFINITY : this.#resolvesAt;
    return Math.min(this.#dispatcher.nextAt, resolvesAt, this.#answerBy);
  }

  /** Whether the test is resolved and no notification of it is left to send. */
  get isOver(): boolean {
    return this.#isResolved && [...this.#stage.queues.values()].every((queue) => queue.length === 0);
  }

  get #isResolved(): boolean {
    return this.#stage.incidents.get(this.id)?.resolvedAt !== null;
  }

  step(now: number): void {
    const incident = this.#stage.incidents.get(this.id);
    if (incident?.resolvedAt === null && now >= this.#resolvesAt)
      keepIncident(this.#stage, { ...incident, resolvedAt: now, resolution: { kind: 'recovered' } });
    if (now >= this.#answerBy) this.#answer();
    endTurn(this.#stage, now);
    this.#dispatcher.send(this.#dispatcher.claimDue(now));
  }

  /** Makes the end of the test due at once. */
  resolve(now: number): void {
    this.#resolvesAt = now;
    this.step(now);
  }

  farewells(next: Settings): Farewells {
    return composeFarewells({ ...this.#parts, state: this.#stage }, next);
  }

  adopt(channels: readonly Channel[], settings: Settings): void {
    this.#stage.settings = { ...settings, silences: this.#stage.settings.silences };
    followChannels(this.#stage, this.#parts.now());
    this.#dispatcher.adopt(channels);
  }

  stop(): void {
    this.#dispatcher.stop();
    this.#answer();
  }

  /** Answers that no channel is notified of the test. */
  refuse(reason: string): void {
    for (const channel of this.#told.keys()) this.#told.set(channel, { channel, delivered: false, reason });
    this.#answer();
  }

  abandon(): void {
    this.#dispatcher.abandon();
  }

  #ended(sent: Sent, now: number): void {
    recordDelivery(this.#stage, sent, now);
    this.#noteWaiting();
    // A failing channel is reported to the person who ordered the test, not on other channels.
    for (const { id } of [...this.#stage.incidents.values()])
      if (id !== this.id) this.#stage.incidents.delete(id);
    const { channel } = sent.message;
    const { delivery } = sent;
    if (this.#told.get(channel)?.delivered === null) {
      const missed = wasTried(delivery) ? whyMissed(delivery) : delivery.reason;
      this.#told.set(channel, { channel, delivered: missed === null, reason: missed });
    }
    this.#answerOnceTold();
    this.#parts.wake();
  }

  /** Notes the channels still waiting for the end: the next daemon sends it to those alone. */
  #noteWaiting(): void {
    const incident = this.#stage.incidents.get(this.id);
    if (incident === undefined || incident.resolvedAt === null) return;
    const waits = ([channel]: [string, unknown]): boolean => queueOf(this.#stage, channel).length > 0;
    const notified = Object.fromEntries(Object.entries(incident.notified).filter(waits));
    noteTest(this.#parts.state, { ...incident, notified });
  }

  #answerOnceTold(): void {
    if (this.#told.values().every(({ delivered }) => delivered !== null)) this.#answer();
  }

  #answer(): void {
    this.#answerBy = Number.POSITIVE_INFINITY;
    this.#answered.resolve([...this.#told.values()]);
  }
}

/** The tests of a running daemon. A note records each until it is over. */
export class TestAlerts {
  readonly #parts: DaemonParts;
  readonly #dependencies: TestDependencies;
  #tests: readonly TestAlert[] = [];

  constructor(parts: DaemonParts, composing: ComposeDependencies & Pick<TestDependencies, 'beside'>) {
    this.#parts = parts;
    this.#dependencies = { ...parts, ...composing, wake: () => parts.timer.wakeBy(parts.now()) };
  }

  get running(): number {
    return this.#tests.reduce((sum, { running }) => sum + running, 0);
  }

  get nextAt(): number {
    return Math.min(...this.#tests.map(({ nextAt }) => nextAt), Number.POSITIVE_INFINITY);
  }

  /** Stores the incident before anything is sent: the next daemon must know of everything that was sent. */
  begin(incident: Incident): StartedTest {
    const { committer, connections, state } = this.#parts;
    const test = new TestAlert(this.#dependencies, incident, connections.channels);
    // Flushes once this turn is over: the order's audit entry is part of the turn.
    const attempted = Promise.resolve().then(() => committer.flush());
    void attempted.then((isAttempted) => {
      if (isAttempted && !committer.failing) {
        // A reload may have come in the meantime.
        test.adopt(connections.channels, state.settings);
        this.#tests = [...this.#tests, test];
        this.#dependencies.wake();
      } else {
        forgetTest(state, test.id);
        test.refuse(unsent.unstorable());
      }
    });
    return test.started;
  }

  /** Ends at once the tests that an earlier process began, or that began while the clock was wrong. */
  resume(now: number): void {
    this.stop();
    const { state, connections } = this.#parts;
    this.#tests = owedTests(state, now).map(
      (incident) => new TestAlert(this.#dependencies, incident, connections.channels),
    );
  }

  farewells(next: Settings): readonly Farewells[] {
    return this.#tests.map((test) => test.farewells(next));
  }

  adopt(channels: readonly Channel[], settings: Settings): void {
    for (const test of this.#tests) test.adopt(channels, settings);
  }

  step(now: number): void {
    for (const test of this.#tests) {
      test.step(now);
      if (test.isOver) forgetTest(this.#parts.state, test.id);
    }
    this.#tests = this.#tests.filter(({ isOver }) => !isOver);
  }

  stop(): void {
    for (const test of this.#tests) test.stop();
  }

  abandon(): void {
    for (const test of this.#tests) test.abandon();
  }
}
