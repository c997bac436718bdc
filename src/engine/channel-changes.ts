import { type Incident, lastKeyOf, oneKey, selfAccountId } from '../domain/alert.ts';
import { ownOf } from '../domain/own.ts';
import { receiversOf, type Settings } from '../domain/settings.ts';
import { channelFailed, channelFailedRule } from '../rules/self-alert-kinds.ts';
import { digestKeyNote, keyedDigest } from './access.ts';
import { deliveryNote, forgetTries, unsent } from './delivery-ended.ts';
import { isUnsent, putNotification, queueOf } from './queue.ts';
import { closeSelfAlert, noteMissedFarewell } from './self-alerts.ts';
import type { MonitorState } from './state.ts';

/** Notes with a digest of where each channel sends, by the channel's name. */
const receiverNote = 'receiver:';

/** Notes with the channel of each receiver that is being told of its removal: the database has nothing else about it. */
const farewellNote = 'farewell:';

/**
 * Follows the configured channels after a start or a reload. What was notified, and what is pending, stays with its receiver: a
 * renamed channel, or two that swapped their addresses, neither repeat nor lose anything. If a channel has another address, its new
 * receiver gets what is pending and hears of open incidents as news, but hears no end of what it was never told. The rest is dropped.
 */
export function followChannels(state: MonitorState, now: number): void {
  if (state.isOfPart) return;
  const before = receiversBefore(state);
  const present = digestsOf(state, state.settings.channels);
  for (const name of before.keys()) forgetTries(state, name);
  const names = newNames(before, present);
  for (const [name, digest] of before) {
    const next = names.get(name);
    if (next === undefined) abandonChannel(state, name);
    else if (digest !== null && present.get(next) !== digest) forgetReceiver(state, name);
  }
  renameChannels(state, names);
  for (const name of before.keys()) if (!present.has(name)) forgetChannel(state, name, now);
  for (const [name, digest] of present)
    if (state.notes.get(receiverNote + name)?.value !== digest)
      state.notes.write(receiverNote + name, digest);
}

/** Digests under a lost key say nothing: each channel counts as the receiver that it was. Better an end of something else than no end. */
export function forgetUnreadableReceivers({ notes }: MonitorState): void {
  if (notes.has(digestKeyNote)) return;
  for (const { name } of notes.under(receiverNote)) notes.delete(name);
}

/** The channels whose receiver is no longer in the next settings, under any name. */
export function leftReceivers(
  state: MonitorState,
  { channels }: Pick<Settings, 'channels'>,
): readonly string[] {
  const next = new Set(digestsOf(state, channels).values());
  return [...receiversBefore(state)].flatMap(([name, digest]) =>
    digest === null || next.has(digest) ? [] : [name],
  );
}

/** The incidents that a receiver may have open. It has not heard of ends that wait for it or for a silence, nor of beginnings that have not left. */
export function openAt(state: MonitorState, channel: string): readonly Incident[] {
  const queue = queueOf(state, channel);
  const ends = queue.flatMap(({ items }) => items.filter(({ kind }) => kind === 'resolved'));
  const waiting = new Set(ends.map(({ incident }) => incident));
  const untried = queue.filter((it) => isUnsent(state, it) && !state.inherited.has(it.id));
  const unsentIds = new Set(untried.map(({ id }) => id));
  return [...state.incidents.values()].filter(({ id, notified, resolvedAt, event }) => {
    const last = ownOf(notified, channel);
    const isKnown = last !== undefined && !unsentIds.has(last.firstMessage);
    return isKnown && !event && (resolvedAt === null || !last.resolved || waiting.has(id));
  });
}

/** Records that a receiver is being told of its removal: if this process does not finish that, the next one names the channel. */
export function beginFarewell(state: MonitorState, channel: string) {
  const note = farewellNote + state.random.id();
  const open = openAt(state, channel);
  state.notes.write(note, channel);
  return {
    /** Whether the receiver, which is configured again, was notified again of all that it had open, and had it under no other keys. */
    isNotifiedAgain: (): boolean =>
      open.every(({ id, notified }) => {
        const { keys = oneKey } = ownOf(notified, channel) ?? {};
        const isNotified = ownOf(state.incidents.get(id)?.notified, channel) !== undefined;
        return isNotified && lastKeyOf(keys) === 0;
      }),
    /** `missed`: what the receiver missed, null for nothing. */
    end(missed: string | null, now: number): void {
      state.notes.delete(note);
      if (missed !== null) noteMissedFarewell(state, channel, missed, now);
    },
  };
}

/** Reports receivers that the configuration no longer has, or that were being told so: without their addresses, what they have open stays so. */
export function noteUntold(state: MonitorState, now: number): void {
  if (state.isOfPart) return;
  const left = leftReceivers(state, state.settings).filter((name) => openAt(state, name).length > 0);
  const begun = state.notes.under(farewellNote);
  for (const { name } of begun) state.notes.delete(name);
  for (const channel of new Set([...left, ...begun.map(({ value }) => value)]))
    noteMissedFarewell(state, channel, unsent.ended(), now);
}

function digestsOf(state: MonitorState, channels: Settings['channels']): ReadonlyMap<string, string> {
  return new Map([...receiversOf(channels)].map(([name, text]) => [name, keyedDigest(state, text)]));
}

/** The digest of each channel's earlier receiver; null when none is stored, as by earlier versions. */
function receiversBefore(state: MonitorState): ReadonlyMap<string, string | null> {
  const before = new Map<string, string | null>();
  for (const { channel } of state.messages.values()) before.set(channel, null);
  for (const incident of state.incidents.values()) {
    for (const channel of Object.keys(incident.notified)) before.set(channel, null);
    if (incident.type === channelFailed.type)
      before.set(incident.rule.slice(channelFailedRule('').length), null);
  }
  // 0.2.0 wrote the second of two parts first.
  const swapped = (text: string): string => text.replace(/^(\S+) (\S+) (\S+)$/, '$1 $3 $2');
  const renewed = new Map(
    [...receiversOf(state.settings.channels).values()].map((text) => [
      keyedDigest(state, swapped(text)),
      keyedDigest(state, text),
    ]),
  );
  for (const { name, value } of state.notes.under(receiverNote))
    before.set(name.slice(receiverNote.length), renewed.get(value) ?? value);
  return before;
}

/** The present name of each channel whose receiver, or else whose name, is still configured. */
function newNames(
  before: ReadonlyMap<string, string | null>,
  present: ReadonlyMap<string, string>,
): ReadonlyMap<string, string> {
  const names = new Map<string, string>();
  const taken = new Set<string>();
  const pair = (name: string, isSource: (old: string) => boolean): void => {
    if (taken.has(name)) return;
    const old = [...before.keys()].find((candidate) => !names.has(candidate) && isSource(candidate));
    if (old === undefined) return;
    names.set(old, name);
    taken.add(name);
  };
  for (const [name, digest] of present) pair(name, (old) => old === name && before.get(old) === digest);
  for (const [name, digest] of present) pair(name, (old) => before.get(old) === digest);
  // Of several channels with one receiver, one that remains goes on for the others.
  for (const [old, digest] of before) {
    const [remaining] = [...present].find(([, each]) => each === digest) ?? [];
    if (remaining !== undefined && !names.has(old)) names.set(old, remaining);
  }
  for (const name of present.keys()) pair(name, (old) => old === name);
  return names;
}

function renameChannels(state: MonitorState, names: ReadonlyMap<string, string>): void {
  if ([...names].every(([old, name]) => old === name)) return;
  const nameOf = (old: string): string => names.get(old) ?? old;
  renameDeliveries(state, names);
  const queues = [...state.queues];
  state.queues.clear();
  for (const [old, ids] of queues) {
    // The channel that had this name before may have a message under way.
    state.queues.set(nameOf(old), [...(state.queues.get(nameOf(old)) ?? []), ...ids]);
    for (const id of nameOf(old) === old ? [] : ids) {
      const message = state.messages.get(id);
      if (message !== undefined) state.messages.set(id, { ...message, channel: nameOf(old) });
    }
  }
  for (const incident of [...state.incidents.values()]) {
    const notified = Object.entries(incident.notified);
    if (notified.every(([old]) => nameOf(old) === old)) continue;
    const renamed = Object.fromEntries(notified.map(([old, last]) => [nameOf(old), last]));
    state.incidents.set(incident.id, { ...incident, notified: renamed });
  }
}

/** The last delivery to each receiver moves with it, and so does the instant until which it takes nothing. */
function renameDeliveries({ notes }: MonitorState, names: ReadonlyMap<string, string>): void {
  const last = [...names].map(([old, name]) => [name, notes.get(deliveryNote + old)?.value] as const);
  for (const old of names.keys()) notes.delete(deliveryNote + old);
  for (const [name, note] of last) if (note !== undefined) notes.write(deliveryNote + name, note);
}

/** Pending notifications of a removed channel end; open incidents go to the remaining channels. */
function abandonChannel(state: MonitorState, name: string): void {
  for (const message of [...state.messages.values()]) {
    if (message.channel !== name || message.state !== 'pending' || state.underWay.has(message.id)) continue;
    putNotification(state, { ...message, state: 'dead', lastError: unsent.channelRemoved() });
  }
  forgetReceiver(state, name);
}

/** The receiver is gone, or its name belongs to another receiver now. */
function forgetReceiver(state: MonitorState, name: string): void {
  state.notes.delete(deliveryNote + name);
  forgetNotified(state, name);
}

/** Nobody there is owed the end of an incident any more. */
function forgetNotified(state: MonitorState, name: string): void {
  for (const incident of [...state.incidents.values()]) {
    const { [name]: notified, ...others } = incident.notified;
    if (notified === undefined || incident.event) continue;
    state.incidents.set(incident.id, { ...incident, notified: others });
    state.touched.add(incident.id);
  }
}

function forgetChannel(state: MonitorState, name: string, now: number): void {
  for (const note of [receiverNote, deliveryNote]) state.notes.delete(note + name);
  const rule = channelFailedRule(name);
  closeSelfAlert(state, { account: selfAccountId, rule }, { kind: 'channel-removed' }, now);
}
