import { figuresOf, wordWhatIsWrong } from './figures.ts';
import { wordValue } from './item-words.ts';
import type { AlertKind } from './kind.ts';

/** Most accounts of a provider cannot be read: one notification replaces theirs. */
export const providerDown: AlertKind = {
  type: 'provider-down',
  subject: () => 'not answering',
  firing: (item, frame) => `no readings of ${wordValue(item, frame) ?? 'its accounts'}`,
  resolved: () => 'readings are back',
  recovery: 'Resolved: readings arrive again.',
  figures: (item, frame) => {
    const affected = wordWhatIsWrong(item, frame);
    return affected === null
      ? []
      : [{ label: 'Affected', value: affected }, ...figuresOf(item, frame, ['reason'])];
  },
  advice: () => [
    'Look at the provider’s status page and at the network of this host. Balance alerts keep their state until readings are back.',
  ],
};
