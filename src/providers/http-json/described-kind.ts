import type { ProviderEntry } from '../../domain/provider-entry.ts';
import type { BalanceDefinition, OutcomeDetail } from '../../domain/reading.ts';
import type { AnswerContext, ProviderAccount, ProviderAnswer, ProviderKind, SharedEntry } from '../kind.ts';
import type { Description } from './description.ts';
import { explainAnswer } from './explain-answer.ts';
import { baseOf, prepareRequest } from './prepare-request.ts';
import { readAnswer } from './read-answer.ts';

/** An entry whose provider is described as data: by the configuration, or by a preset. */
export interface DescribedEntry extends ProviderEntry {
  readonly description: Description;
  /** Replaces scheme and host of the description. */
  readonly baseUrl?: string;
}

/** What all kinds of described providers do alike. */
export const describedKind = {
  polled: true,
  request: ({ description, baseUrl }: DescribedEntry, { credentials }: ProviderAccount) =>
    prepareRequest(description.request, credentials, baseUrl),
  readAnswer: (answer: ProviderAnswer, { entry, texts }: AnswerContext<DescribedEntry>): OutcomeDetail =>
    readAnswer(entry.description, answer, texts),
  explainAnswer: (answer: ProviderAnswer, { entry, texts }: AnswerContext<DescribedEntry>) =>
    explainAnswer(entry.description, answer, texts),
} satisfies Partial<ProviderKind<{ readonly type?: string }, DescribedEntry>>;

/** An entry from what all entries share, and a description. */
export function buildDescribedEntry(
  shared: SharedEntry,
  description: Description,
  more: { readonly baseUrl?: string | undefined; readonly replaceKey: string },
): DescribedEntry {
  return {
    ...shared,
    description,
    ...(more.baseUrl === undefined ? {} : { baseUrl: more.baseUrl }),
    address: baseOf(description.request.url, more.baseUrl),
    polled: true,
    balances: description.balances.map(nameBalance),
    ...(description.facts.creditLimit?.included === false ? { saysCreditLimit: true } : {}),
    words: { replaceKey: more.replaceKey, keyName: 'credentials', addressKey: 'baseUrl' },
  };
}

export function nameBalance({
  id,
  label,
  alertsBelowZero,
}: Description['balances'][number]): BalanceDefinition {
  return { id, label: label ?? id.charAt(0).toUpperCase() + id.slice(1), alertsBelowZero };
}
