import { accountServiceKind } from './account-service/account-service-kind.ts';
import type { ProviderKind } from './kind.ts';
import { describedKinds } from './presets/preset-kinds.ts';
import { pushedKind } from './pushed/pushed-kind.ts';

/** Every kind of provider, the default first. Nothing else in the program lists them. */
export const providerKinds: readonly [ProviderKind, ...ProviderKind[]] = [
  accountServiceKind,
  pushedKind,
  ...describedKinds,
];

export const ownAccountKeys = providerKinds.flatMap(({ accountKeys }) => accountKeys ?? []);

/** The part of an entry that its kind reads; kinds with the same keys share one. */
export const providerSchemas = [...new Set(providerKinds.map(({ schema }) => schema))];

/** The kind of an entry; the first kind if the entry names none. Throws for a type that no kind has, which the schema refuses. */
export function providerKindOf({ type }: { readonly type?: string | undefined }): ProviderKind {
  const kind = type === undefined ? providerKinds[0] : providerKinds.find((each) => each.type === type);
  if (kind === undefined) throw new Error(`there is no kind of provider called ${type}`);
  return kind;
}
