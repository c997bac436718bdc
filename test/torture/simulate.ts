import { entryOf } from '../../src/domain/provider-entry.ts';
import { asStore } from '../../src/store/sqlite/port.ts';
import { isAllStored } from '../support/stored.ts';
import { EventQueue } from './event-queue.ts';
import { Fleet } from './fleet.ts';
import { happen } from './happen.ts';
import { inTurns } from './in-turns.ts';
import { Machine } from './machine.ts';
import { createMemoCalendar } from './memo-calendar.ts';
import { Model } from './model/model.ts';
import { pushReadings } from './push-readings.ts';
import { RecordingObserver } from './recording-observer.ts';
import { canBeReplayed, checkReplay } from './replayed-story.ts';
import { calmDays, dayMs, hourMs, type Scenario } from './scenario.ts';
import { openStorage } from './sim-storage.ts';
import { Story, Violation } from './story.ts';
import { World } from './world.ts';

const lastBatchMs = 10_000;

export interface Result {
  readonly violation: { readonly rule: string; readonly message: string } | null;
  readonly hash: number;
  readonly polls: number;
  readonly sends: number;
  readonly incidents: number;
  readonly kills: number;
  /** How often a daemon took the accounts that it shares with others. */
  readonly takeovers: number;
  readonly accountDays: number;
  /** Whether what it stored was replayed, and the same incidents found. */
  readonly replayed: boolean;
  /** When the run ended, in days of the simulation. */
  readonly endedAtDay: number;
  readonly story: readonly string[];
}

/** Once the faults have ended a run is over as soon as nothing is owed; each of so many runs plays the whole calm. */
const wholeCalmEvery = 4;
/** So long at least: a database that was locked, and an account that waits for its next poll, come back within it. */
const restMs = 4 * hourMs;

/** Runs a scenario on the real daemon and gives what came of it. */
export async function simulate(scenario: Scenario, options: { readonly notified: boolean }): Promise<Result> {
  const queue = new EventQueue();
  const story = new Story({ notified: options.notified, now: () => queue.now });
  const storage = openStorage(scenario.storage, scenario.startAt);
  const calendar = createMemoCalendar();
  let violation: Result['violation'] = null;
  let replayed = false;
  const model = new Model({ scenario, story, calendar, now: () => queue.now, storage });
  const observer = new RecordingObserver(model, {
    now: () => scenario.startAt + queue.now,
    isPolled: ({ account: id, poll }) => {
      if (fleet.left.has(poll)) return false;
      const account = scenario.settings.accounts.find((each) => each.id === id);
      return account === undefined || entryOf(scenario.settings, account).polled;
    },
    found: (violated) => {
      violation ??= describe(violated);
    },
  });
  const fleet = new Fleet({ scenario, queue, model, storage });
  const world = new World(scenario);
  for (let place = 0; place < scenario.nodes; place++) {
    fleet.machines.push(new Machine({ scenario, queue, world, storage, calendar, observer, fleet }));
  }
  model.machine = fleet;
  pushReadings({ scenario, queue, world, fleet });
  const endsAt = scenario.days * dayMs;
  for (const event of scenario.events)
    queue.at(event.at, () => happen({ fleet, model, story, world, endsAt }, event));
  let rests = false;
  const lookForRest = (): void => {
    queue.at(queue.now + restMs, () => {
      rests = model.isAtRest;
      lookForRest();
    });
  };
  const end = endsAt + calmDays * dayMs;
  queue.at(endsAt, () => {
    model.calmBegins();
    // A kill may wait for a commit until so late that nobody would see the daemon come up again.
    for (const machine of fleet.machines) machine.spare();
    if (scenario.seed % wholeCalmEvery !== 0) lookForRest();
  });
  const rejected = (reason: unknown): void => {
    violation ??= describe(reason);
  };
  process.on('unhandledRejection', rejected);
  try {
    for (const machine of fleet.machines) machine.boot();
    // What the daemon decided last is in no batch yet: it gets a moment to store that.
    const isUnsaved = (): boolean => fleet.daemon !== null && !isAllStored(fleet.daemon.state);
    const goesOn = (): boolean => queue.step(end) || (isUnsaved() && queue.step(end + lastBatchMs));
    await inTurns(() => violation === null && !rests && goesOn());
    await new Promise(setImmediate);
    if (violation === null) model.finish();
    if (violation === null && world.tests.open.length > 0)
      throw new Violation('a test alert that began ends', world.tests.open.join(', '));
    if (violation === null && observer.pollsLost === 0 && canBeReplayed(scenario)) {
      const reader = asStore(storage.open(() => scenario.startAt + queue.now));
      const { settings } = scenario;
      const { firstEndAt } = observer;
      const incidents = observer.incidents.values();
      await checkReplay({
        settings,
        calendar,
        reader,
        incidents,
        firstEndAt,
        now: scenario.startAt + queue.now,
      });
      replayed = true;
    }
  } catch (error) {
    violation = describe(error);
  } finally {
    process.off('unhandledRejection', rejected);
    storage.close();
  }
  const { polls, sends, incidents, kills } = model.counts;
  const accountDays = (scenario.settings.accounts.length * queue.now) / dayMs;
  return {
    violation,
    hash: story.hash,
    polls,
    sends,
    incidents,
    kills,
    takeovers: fleet.takeovers,
    accountDays,
    replayed,
    endedAtDay: queue.now / dayMs,
    story: story.lines,
  };
}

function describe(error: unknown): NonNullable<Result['violation']> {
  if (error instanceof Violation) return { rule: error.rule, message: error.message };
  const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
  return { rule: 'the daemon never throws', message: text };
}
