import type { Machine } from './machine.ts';
import type { Model } from './model/model.ts';
import type { Happening } from './scenario.ts';
import { hashText } from './seeded.ts';
import type { Story } from './story.ts';

/** Lets one thing of the scenario happen. */
export function happen(machine: Machine, model: Model, story: Story, it: Happening): void {
  const { queue, storage } = machine;
  if (machine.frozen && it.kind !== 'storage') {
    // Nothing reaches a process that sleeps before it wakes.
    queue.at(machine.wakesAt + 1, () => happen(machine, model, story, it));
    return;
  }
  story.note(hashText(it.kind), () => describe(it));
  machine.dirty = true;
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
      model.wallMoved(it.byMs);
      machine.jump(it.byMs);
      return;
    case 'suspend':
      if (machine.stopping) return;
      model.sleeps(it.forMs);
      machine.suspend(it.forMs);
      return;
    case 'pause':
      if (machine.stopping) return;
      pause(machine, model, it.forMs);
      return;
    case 'storage':
      storage.setFault(it.fault);
      model.storageFails();
      queue.at(queue.now + it.forMs, () => {
        storage.setFault(null);
        story.note(1, () => 'the storage works again');
      });
      return;
    case 'backup':
      storage.backup();
      model.backedUp();
      return;
    case 'restore':
      restore(machine, model, it.downMs);
      return;
    case 'reload':
      machine.reload(it.settings);
      model.reloaded();
      return;
    case 'invalid configuration':
      machine.daemon?.reportInvalidConfiguration('simulated: not JSON');
      model.configurationRefused();
      return;
    case 'acknowledge':
    case 'silence':
    case 'expire':
      operate(machine, model, it);
      return;
    case 'poll now':
      void machine.views?.pollNow(it.account);
      return;
  }
}

/** A standstill is noticed when the daemon looks around again; where it looks seldom, only long ones are played. */
function pause(machine: Machine, model: Model, forMs: number): void {
  const lengthMs = Math.max(forMs, 17 * machine.sleepMs);
  model.sleeps(lengthMs);
  machine.pause(lengthMs);
}

function restore(machine: Machine, model: Model, downMs: number): void {
  if (!model.hasBackup || !machine.up || machine.stopping) return;
  machine.kill(downMs);
  if (machine.storage.restore()) model.restored();
}

function operate(
  machine: Machine,
  model: Model,
  it: Extract<Happening, { kind: 'acknowledge' | 'silence' | 'expire' }>,
): void {
  const { views, daemon, storage } = machine;
  if (views === null || daemon === null || machine.stopping || machine.frozen) return;
  const now = daemon.now();
  const leave = 'byOrder' in it && it.byOrder && storage.fault === null ? storage.leaveOrder : null;
  if (it.kind === 'acknowledge') {
    const open = [...daemon.state.alerts.values()].filter((alert) => alert.incident !== null);
    const alert = open[it.place % Math.max(1, open.length)];
    if (alert === undefined) return;
    const order = { account: alert.account, rule: alert.rule, by: 'anna', comment: '' };
    if (leave === null) views.acknowledge(order);
    else leave({ kind: 'acknowledge', ...order, at: now });
  } else if (it.kind === 'silence') {
    const silence = { match: it.match, startsAt: now, endsAt: now + it.forMs, by: 'ben', comment: '' };
    if (leave === null) views.silence(silence);
    else {
      const { by: createdBy, ...rest } = silence;
      leave({
        kind: 'silence',
        silence: { ...rest, id: `s-order-${machine.queue.now}`, createdAt: now, createdBy },
      });
    }
  } else {
    const ids = [...daemon.state.silences.keys()];
    const id = ids[it.place % Math.max(1, ids.length)];
    if (id !== undefined) views.expireSilence(id);
  }
  if (leave !== null) machine.nudge();
  model.operated();
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
