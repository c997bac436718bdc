import type { MessageItem } from '../domain/message.ts';
import { cleanText } from '../domain/plain-text.ts';
import type { WordingFrame } from '../wording/quantity-wording.ts';
import { ownFigures } from './figures.ts';
import { factText } from './item-words.ts';
import type { AlertKind } from './kind.ts';

const type = 'channel-failed';
const nameLimit = 80;

export const refusedRecipientsFact = 'refused recipients';

export const variableFact = 'environment variable';

/** A channel refuses messages for good, or some of their recipients or parts; notified on the others. */
export const channelFailed: AlertKind = {
  type,
  concernsEveryChannel: true,
  subject: ({ rule }) => `channel ${cleanText(channelOf(rule), nameLimit)} fails`,
  firing: (item, frame) =>
    refusesSomeOnly(item)
      ? `channel ${nameOf(item, frame)} delivers only in part`
      : `channel ${nameOf(item, frame)} does not take messages`,
  resolved: (item, frame) =>
    refusesSomeOnly(item)
      ? `channel ${nameOf(item, frame)} delivers everything again`
      : `channel ${nameOf(item, frame)} takes messages again`,
  recovery: 'Resolved: the channel took a message again.',
  figures: ownFigures,
  advice: (item, frame) => [
    refusesSomeOnly(item)
      ? 'Correct or remove what is refused (mail addresses stand in "to" of the channel), and try it with "lowwater test-channel".'
      : `Fix the channel in the configuration and try it with "lowwater test-channel".${howItTakesEffect(item, frame)} Alerts that are still open are sent to it again then.`,
  ],
};

function howItTakesEffect(item: MessageItem, frame: WordingFrame): string {
  const name = factText(item, variableFact, frame);
  return name === null
    ? ''
    : ` What comes from the environment, such as ${name}, is taken by a restart of lowwater alone.`;
}

export function channelFailedRule(channel: string): string {
  return `${type}:${channel}`;
}

function channelOf(rule: string): string {
  return rule.replace(/^channel-failed:?/, '');
}

function refusesSomeOnly(item: MessageItem): boolean {
  return item.facts.some(({ name, value }) => name === refusedRecipientsFact && value.unit === 'count');
}

function nameOf(item: MessageItem, frame: WordingFrame): string {
  return factText(item, 'channel', frame) ?? cleanText(channelOf(item.rule), nameLimit);
}
