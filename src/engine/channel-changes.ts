import type { ChannelSettings } from '../domain/settings.ts';
import { channelFailed, channelFailedRule } from '../rules/channel-failed.ts';
import { forgetTries } from './delivery-ended.ts';
import { moveQueue, putNotification } from './queue.ts';
import { closeOwnFailure } from './self-alerts.ts';
import type { MonitorState } from './state.ts';

/**
 * Follows a reload: channels that stay are tried again, renamed ones keep what they were notified of, others
 * are dropped.
 */
export function followChannels(state: MonitorState, before: readonly ChannelSettings[], now: number): void {
  const known = new Set(before.map((channel) => channel.name));
  const { channels } = state.settings;
  for (const channel of before) {
    forgetTries(state, channel.name);
    if (channels.some(({ name }) => name === channel.name)) continue;
    const heir = channels.find(
      ({ name, place }) => !known.has(name) && place.reveal() === channel.place.reveal(),
    );
    if (heir !== undefined) renameChannel(state, { from: channel.name, to: heir.name });
    abandonChannel(state, channel.name, now);
  }
}

/** After a restart: drops what is stored of channels that are not configured any more. */
export function abandonUnknownChannels(state: MonitorState, now: number): void {
  const named = new Set<string>();
  for (const message of state.messages.values()) named.add(message.channel);
  for (const incident of state.incidents.values()) {
    for (const channel of Object.keys(incident.notified)) named.add(channel);
    if (incident.type === channelFailed.type) named.add(incident.rule.slice(channelFailedRule('').length));
  }
  for (const { name } of state.settings.channels) named.delete(name);
  for (const name of named) abandonChannel(state, name, now);
}

/** The same receiver under a new name: it is not notified twice and gets what is pending. */
function renameChannel(
  state: MonitorState,
  { from, to }: { readonly from: string; readonly to: string },
): void {
  moveQueue(state, { from, to });
  for (const incident of [...state.incidents.values()]) {
    const { [from]: notified, ...others } = incident.notified;
    if (notified === undefined) continue;
    state.incidents.set(incident.id, { ...incident, notified: { ...others, [to]: notified } });
  }
}

/** Pending notifications of a removed channel end; open incidents go to the remaining channels. */
function abandonChannel(state: MonitorState, name: string, now: number): void {
  for (const message of [...state.messages.values()]) {
    if (message.channel !== name || message.state !== 'pending' || state.underWay.has(message.id)) continue;
    putNotification(state, {
      ...message,
      state: 'dead',
      lastError: 'the channel was removed from the configuration',
    });
  }
  for (const incident of [...state.incidents.values()]) {
    const { [name]: notified, ...others } = incident.notified;
    if (notified === undefined) continue;
    state.incidents.set(incident.id, { ...incident, notified: others });
  }
  closeOwnFailure(state, {
    rule: channelFailedRule(name),
    resolution: { kind: 'channel-removed' },
    now,
  });
}
