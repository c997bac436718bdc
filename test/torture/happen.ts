import type { Daemon } from '../../src/daemon/daemon.ts';
import type { Alert } from '../../src/domain/alert.ts';
import { StorageError } from '../../src/domain/operator-error.ts';
import { mutesEverything } from '../../src/domain/rule.ts';
import type { Settings } from '../../src/domain/settings.ts';
import { type OperatorOrder, type OrderBody, type Wanted, writeOrder } from '../../src/engine/orders.ts';
import type { MonitorState } from '../../src/engine/state.ts';
import type { LiveViews } from '../../src/views/live-views.ts';
import { leftOrderOf, orderOf } from '../support/orders.ts';
import { isAbout } from './awaited.ts';
import { type Fleet, leaseMs } from './fleet.ts';
import { isNew } from './links.ts';
import { look } from './look.ts';
import type { Machine } from './machine.ts';
import type { Model } from './model/model.ts';
import { extendedByMs } from './model/orders-given.ts';
import { acknowledged } from './model/routing.ts';
import { dayMs, type Happening, hourMs } from './scenario.ts';
import { hashText } from './seeded.ts';
import { lookAtOvertaken, lookAtStandbys } from './standby-look.ts';
import { orderAtStandby } from './standby-orders.ts';
import type { Story } from './story.ts';
import type { World } from './world.ts';

interface Stage {
  readonly fleet: Fleet;
  readonly model: Model;
  readonly story: Story;
  readonly world: World;
  /** When the faults end: what had to wait until then does not happen. */
  readonly endsAt: number;
}

/** A commit that is under way, and one after it, whose answers do not come; where leases go slower, so does who waits for them. */
const answerMs = 60_000 + 20 * leaseMs;
/** A group may be told to wait just before the turn of the account comes. */
const longestPollMs = 2 * dayMs;
/** A clock of one of several machines that was set wrong is set right by then. */
const awaitLookMs = 7000;
const setRightAfterMs = 2 * hourMs;

/** Lets one thing of the scenario happen. */
export function happen(stage: Stage, it: Happening, struck: Machine | null = stage.fleet.struck(it)): void {
  const { fleet, model, story } = stage;
  if (struck === null) return;
  const machine = struck;
  const { queue, storage } = machine;
  if (machine.frozen && it.kind !== 'storage' && it.kind !== 'line') {
    onceAwake(stage, it, machine);
    return;
  }
  story.note(hashText(it.kind), () => `${describe(it)}${fleet.shared === null ? '' : ` ${machine.name}`}`);
  switch (it.kind) {
    case 'kill':
      machine.kill(it.downMs);
      return;
    case 'kill at call':
      machine.killAtCall(it.calls, it.downMs);
      return;
    case 'kill in commit':
      machine.killInCommit(it.when, it.downMs);
      return;
    case 'stop':
      machine.stop(it.downMs);
      return;
    case 'jump':
      setClock(stage, machine, it.byMs);
      if (fleet.shared !== null)
        queue.at(queue.now + setRightAfterMs, () => setClock(stage, machine, -it.byMs));
      return;
    case 'suspend':
      if (machine.stopping) return;
      if (fleet.isTheirs(machine)) model.sleeps(it.forMs);
      machine.suspend(it.forMs);
      return;
    case 'pause':
      if (machine.stopping) return;
      pause(stage, machine, it);
      return;
    case 'storage':
      storage.setFault(it.fault);
      model.storageFails();
      queue.at(queue.now + it.forMs, () => {
        storage.setFault(null);
        story.note(1, () => 'the storage works again');
      });
      return;
    case 'damage':
      damage(stage, machine, it);
      return;
    case 'backup':
      storage.backup();
      model.backedUp();
      return;
    case 'restore':
      restore(machine, model, it.downMs);
      return;
    case 'reload':
      for (const each of fleet.machines) reload(stage, each, it.settings);
      return;
    case 'invalid configuration':
      model.configurationRefused();
      for (const each of fleet.machines) each.refuse('simulated: not JSON');
      return;
    case 'acknowledge':
    case 'silence':
    case 'ordered':
    case 'announced':
    case 'expire':
    case 'undo':
    case 'test alert':
      operate(stage, machine, it);
      return;
    case 'press':
      press(stage, machine, it);
      return;
    case 'line':
      breakLine(stage, it.everyone ? fleet.machines : [machine], it);
      return;
    case 'order of tomorrow':
      if (machine.leaveOrder === null) return;
      machine.leaveOrder({ kind: 'tomorrow', orderId: `tomorrow-${it.at}`, by: 'fay' });
      model.ordersOfTomorrow.add(`tomorrow-${it.at}`);
      return;
    case 'order at standby':
      void orderAtStandby(stage, it);
      return;
    case 'await':
      awaitTurn(stage, it, Math.min(queue.now + it.forMs, stage.endsAt));
      return;
    case 'hand over':
      fleet.leaveOrder(leftOrderOf({ kind: 'hand-over' }, { at: machine.wall() }));
      return;
    case 'server':
      fleet.serve(it.what);
      return;
    case 'look at standby':
      lookAtStandbys(fleet, model);
      return;
    case 'left readings':
      fleet.left.leave(it.account, machine.wall());
      return;
    case 'look':
      void look(machine, model, it.account);
      return;
    case 'poll now':
      pollNow(machine, model, it.account);
      return;
  }
}

/** Nothing reaches a process that sleeps before it wakes. */
function onceAwake(stage: Stage, it: Happening, machine: Machine): void {
  const { queue, wakesAt } = machine;
  if (wakesAt < stage.endsAt) queue.at(wakesAt + 1, () => happen(stage, it, machine));
}

/** Looks for it every few seconds. */
function awaitTurn(stage: Stage, it: Extract<Happening, { kind: 'await' }>, until: number): void {
  const { daemon, machines } = stage.fleet;
  const [first] = machines;
  if (first === undefined || first.queue.now > until) return;
  const { queue } = first;
  if (daemon === null || !isAbout(daemon, it.what))
    queue.at(queue.now + awaitLookMs, () => awaitTurn(stage, it, until));
  else
    for (const next of it.next)
      queue.at(queue.now + next.at, () => happen(stage, { ...next, at: queue.now }));
}

function damage(
  { model }: Stage,
  { storage }: Machine,
  { source, place }: Extract<Happening, { kind: 'damage' }>,
): void {
  const damaged = storage.damage(source, place);
  if (damaged !== null) model.damaged(damaged);
}

/** A standstill is noticed when the daemon looks around again; where it looks seldom, only long ones are played. */
function pause(
  { fleet, model }: Stage,
  machine: Machine,
  { forMs, askedAfterMs = [] }: Extract<Happening, { kind: 'pause' }>,
): void {
  const lengthMs = Math.max(forMs, 17 * machine.sleepMs);
  if (fleet.isTheirs(machine)) model.sleeps(lengthMs);
  machine.pause(lengthMs);
  for (const afterMs of askedAfterMs)
    machine.queue.at(machine.wakesAt + afterMs, () => void lookAtOvertaken(machine, fleet, model));
}

function reload(stage: Stage, machine: Machine, settings: Settings): void {
  const { fleet, model } = stage;
  if (machine.frozen) machine.queue.at(machine.wakesAt + 1, () => reload(stage, machine, settings));
  else {
    machine.reload(settings);
    if (fleet.isTheirs(machine)) model.reloaded();
    fleet.configured(machine);
  }
}

function setClock({ fleet, model }: Stage, machine: Machine, byMs: number): void {
  if (fleet.isTheirs(machine)) model.wallMoved(byMs);
  machine.jump(byMs);
  fleet.clockSet(machine);
}

/** Each fault lasts as long as it does, also where another of its kind begins or ends meanwhile. */
function breakLine(
  { model, story }: Stage,
  machines: readonly Machine[],
  { fault, forMs }: Extract<Happening, { kind: 'line' }>,
): void {
  const faults = fault === 'isolated' ? (['isolated', 'cut'] as const) : ([fault] as const);
  model.storageFails();
  for (const { line, queue } of machines) {
    for (const each of faults) line[each]++;
    queue.at(queue.now + forMs, () => {
      for (const each of faults) line[each]--;
      story.note(12, () => `the line works again (${fault})`);
    });
  }
}

function restore(machine: Machine, model: Model, downMs: number): void {
  if (!model.hasBackup || !machine.up || machine.stopping) return;
  machine.kill(downMs);
  if (machine.storage.restore()) model.restored();
}

function press(
  { fleet, model, world }: Stage,
  machine: Machine,
  it: Extract<Happening, { kind: 'press' }>,
): void {
  if (!fleet.isTheirs(machine) || machine.stopping || machine.frozen) return;
  const answer = world.chats.press(machine, model, it);
  if (answer === null) return;
  expectAnswer(machine, model, answer);
  model.operated();
}

type Operated = Extract<
  Happening,
  { kind: 'acknowledge' | 'silence' | 'ordered' | 'announced' | 'expire' | 'undo' | 'test alert' }
>;

function operate({ fleet, model }: Stage, machine: Machine, it: Operated): void {
  const { views, daemon, storage, leaveOrder } = machine;
  if (!fleet.isTheirs(machine)) return;
  if (views === null || daemon === null || machine.stopping || machine.frozen) return;
  const at = daemon.now();
  const [wanted, by] = wantedOf(it, daemon.state, at) ?? [];
  if (wanted === undefined || by === undefined) return;
  const leave = 'byOrder' in it && it.byOrder && storage.fault === null ? leaveOrder : null;
  if (it.kind === 'acknowledge' && it.lateMs !== undefined) {
    const order = orderOf(wanted, { by, at });
    machine.queue.at(machine.queue.now + it.lateMs, () => giveLate(model, machine, order));
  } else if (leave !== null) {
    leaveWith(leave, model, it, leftOrderOf(wanted, { by, at }));
    machine.nudge();
  } else {
    const answers = views.orders([orderOf(wanted, { by, at })]);
    const isRemembered = it.kind === 'undo' || (it.kind === 'acknowledge' && it.alone === true);
    const incident = wanted.kind === 'acknowledge' ? openIncident(daemon.state, wanted) : null;
    expectAnswer(
      machine,
      model,
      isRemembered ? remembered(model, daemon, answers, { by, incident }) : answers,
    );
  }
  model.operated();
}

/** What somebody wants, and who; null where there is nothing to be done. */
function wantedOf(it: Operated, state: MonitorState, now: number): readonly [Wanted, string] | null {
  switch (it.kind) {
    case 'acknowledge': {
      const open = [...state.alerts.values()].filter((alert) => alert.incident !== null);
      const alert = open[it.place % Math.max(1, open.length)];
      if (alert === undefined) return null;
      const { account, rule, incident } = alert;
      const wanted = { kind: 'acknowledge', account, rule, comment: '' } as const;
      return it.lateMs === undefined
        ? [wanted, it.alone === true ? `ada-${it.at}` : 'anna']
        : [{ ...wanted, seen: { incident } }, `late ${incident}`];
    }
    case 'silence': {
      const everything = mutesEverything(it.match);
      const span = { startsAt: now, endsAt: now + it.forMs, comment: `for ${it.forMs}` };
      return [{ kind: 'silence', match: it.match, everything, ...span }, 'ben'];
    }
    case 'ordered': {
      const { account, amountMicros, forMs } = it;
      const arrivesBy = now + forMs;
      return [{ kind: 'expect-top-up', account, amountMicros, arrivesBy, comment: '' }, 'cleo'];
    }
    case 'announced': {
      const { account, amountMicros, forMs } = it;
      const run = { amountMicros, startsAt: now, endsAt: now + forMs, comment: '' };
      return [{ kind: 'expect-spending', account, ...run }, it.by ?? 'dora'];
    }
    case 'undo': {
      const wanted = undoing(state, it);
      return wanted && [wanted, `una-${it.at}`];
    }
    case 'test alert':
      return [{ kind: 'test-alert', account: it.account }, 'gil'];
    case 'expire': {
      const ids = [...state.silences.keys()];
      const id = ids[it.place % Math.max(1, ids.length)];
      return id === undefined ? null : [{ kind: 'expire', id }, 'ana'];
    }
  }
}

function giveLate(model: Model, machine: Machine, order: OperatorOrder): void {
  const { views, leaveOrder } = machine;
  if (leaveOrder !== null) leaveOrder(writeOrder(order));
  else if (views !== null && !machine.stopping && !machine.frozen)
    expectAnswer(machine, model, views.orders([order]));
  machine.nudge();
  model.operated();
}

function leaveWith(
  leave: NonNullable<Machine['leaveOrder']>,
  { given }: Model,
  { kind, at }: Happening,
  { orderId, from, ...known }: OrderBody,
): void {
  // Commands before 0.4 gave an order no id, and said of nobody whence it came.
  leave(kind === 'acknowledge' && at % 2 === 0 ? known : { ...known, orderId, from });
  if (kind === 'undo') given.answered(String(known.by), { isSaidDone: true, incident: null });
}

function openIncident(
  { alerts }: MonitorState,
  { account, rule }: Pick<Alert, 'account' | 'rule'>,
): string | null {
  return alerts.get(account, rule)?.incident ?? null;
}

/** Whoever undoes something, or does nothing else, remembers what they were told of it. */
async function remembered(
  { given }: Model,
  { committer }: Daemon,
  answers: ReturnType<LiveViews['orders']>,
  { by, incident }: { readonly by: string; readonly incident: string | null },
): Promise<void> {
  const [answer] = await answers;
  given.answered(by, { isSaidDone: isNew(answer), mayBeLost: committer.failing, incident });
}

/** Null where there is nothing to be undone. */
function undoing(state: MonitorState, { what, place }: Extract<Happening, { kind: 'undo' }>): Wanted | null {
  const newest = <Each>(all: Iterable<Each>): Each | undefined => [...all].toReversed().at(place);
  if (what === 'extend') {
    const silence = newest(state.silences.values());
    if (silence === undefined) return null;
    const seen = place === 0 ? { seenEndsAt: silence.endsAt } : {};
    return { kind: 'extend-silence', id: silence.id, byMs: extendedByMs, ...seen };
  }
  if (what === 'cancel') {
    const topUp = newest([...state.expected.values()].flat());
    return topUp === undefined ? null : { kind: 'cancel-expected', account: topUp.account, id: topUp.id };
  }
  const taken = newest([...state.incidents.values()].filter(acknowledged));
  return taken === undefined ? null : { kind: 'unacknowledge', account: taken.account, rule: taken.rule };
}

function pollNow(machine: Machine, model: Model, account: string): void {
  if (machine.views !== null)
    expectAnswer(machine, model, machine.views.orders([orderOf({ kind: 'poll', account })]), longestPollMs);
}

/** Also a daemon that loses the accounts answers, if only that the order has to be repeated. */
function expectAnswer(machine: Machine, model: Model, order: Promise<unknown>, withinMs = answerMs): void {
  const { queue, process } = machine;
  const at = queue.now;
  let isAnswered = false;
  const repeated = (error: unknown): void => {
    if (!(error instanceof StorageError)) throw error;
  };
  void order.catch(repeated).finally(() => {
    isAnswered = true;
  });
  queue.at(at + withinMs, () => {
    // Without a process: the order itself was the call at which it was killed.
    if (isAnswered || process === null || machine.process !== process || machine.wakesAt > at) return;
    model.broken('every order is answered', `${machine.name} said nothing for ${withinMs} ms`);
  });
}

function describe(it: Happening): string {
  switch (it.kind) {
    case 'reload':
      return '** reload **';
    default: {
      const { at: _, kind, ...rest } = it;
      return `** ${kind} ** ${JSON.stringify(rest)}`;
    }
  }
}
