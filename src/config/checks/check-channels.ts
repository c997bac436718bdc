import { channelKinds } from '../../channels/registry.ts';
import type { ConfigProblem } from '../../domain/operator-error.ts';
import { ownAccountKeys } from '../../providers/registry.ts';
import { type Draft, itemsAt, keysAt, problemAt, textAt, valueAt } from '../draft.ts';

/** What holds between the keys of one channel, and between a channel and the accounts: its kind knows. */
export function checkChannels(draft: Draft): ConfigProblem[] {
  const credentials = credentialsOf(draft);
  return keysAt(draft, ['channels']).flatMap((name) => {
    const channel = ['channels', name];
    const kind = channelKinds.find(({ type }) => type === textAt(draft, [...channel, 'type']));
    const read = (key: string): unknown =>
      draft.isBroken([...channel, key]) ? undefined : valueAt(draft, [...channel, key]);
    return (kind?.check?.({ read, credentials }) ?? []).map(({ key, message }) =>
      problemAt(draft, [...channel, key], message),
    );
  });
}

/** By what the balances of the accounts are asked for. */
function credentialsOf(draft: Draft): ReadonlySet<string> {
  return new Set(
    itemsAt(draft, ['accounts']).flatMap((account) => {
      const values: readonly unknown[] = Object.values(Object(valueAt(draft, [...account, 'credentials'])));
      const own = ownAccountKeys.map(({ credential }) => valueAt(draft, [...account, credential]));
      return [...own, ...values].flatMap((value) =>
        typeof value === 'string' && value !== '' ? [value] : [],
      );
    }),
  );
}
