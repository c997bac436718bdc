import { figureOf, wordWhatIsWrong } from './figures.ts';
import { wordValue } from './item-words.ts';
import type { AlertKind } from './kind.ts';

/** Most accounts of a provider cannot be read: one message instead of theirs. */
export const providerDown: AlertKind = {
  type: 'provider-down',
  matter: () => 'not answering',
  firing: (notice, frame) => `no readings of ${wordValue(notice, frame) ?? 'its accounts'}`,
  resolved: () => 'readings are back',
  recovery: 'Resolved: readings arrive again.',
  figures: (notice, frame) => {
    const affected = wordWhatIsWrong(notice, frame);
    if (affected === null) return [];
    const reason = notice.facts.filter(({ name }) => name === 'reason');
    return [{ label: 'Affected', value: affected }, ...reason.map((fact) => figureOf(fact, frame))];
  },
  advice: () => [
    'Look at the provider’s status page and at the network of this host. Balance alerts keep their state until readings are back.',
  ],
};
