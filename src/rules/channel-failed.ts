import type { MessageItem } from '../domain/message.ts';
import { cleanText } from '../domain/plain-text.ts';
import type { WordingFrame } from '../wording/quantity-wording.ts';
import { ownFigures } from './figures.ts';
import { factText } from './item-words.ts';
import type { AlertKind } from './kind.ts';

const type = 'channel-failed';
const nameLimit = 80;

/** The fact by which a channel that refused some recipients or parts differs from one that refused the message. */
export const refusedRecipientsFact = 'refused recipients';

/** The fact that names a variable of the environment that a value of the channel comes from. */
export const variableFact = 'environment variable';

/** A channel refuses messages for good, or some of their recipients or parts. The other channels are notified. */
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

/** What a running process does not see by itself. */
function howItTakesEffect(item: MessageItem, frame: WordingFrame): string {
  const name = factText(item, variableFact, frame);
  return name === null
    ? ''
    : ` What comes from the environment, such as ${name}, is taken by a restart of lowwater alone.`;
}

/** The rule id under which a channel that refuses for good is reported. */
export function channelFailedRule(channel: string): string {
  return `${type}:${channel}`;
}

/** The channel that a rule id speaks of. */
function channelOf(rule: string): string {
  return rule.replace(/^channel-failed:?/, '');
}

/** It took the rest of the message. */
function refusesSomeOnly(item: MessageItem): boolean {
  return item.facts.some(({ name, value }) => name === refusedRecipientsFact && value.unit === 'count');
}

function nameOf(item: MessageItem, frame: WordingFrame): string {
  return factText(item, 'channel', frame) ?? cleanText(channelOf(item.rule), nameLimit);
}
