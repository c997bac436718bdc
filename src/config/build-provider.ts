import { keyOf } from '../domain/json.ts';
import { defaultEntry, type ProviderEntry } from '../domain/provider-entry.ts';
import { Secret } from '../domain/secret.ts';
import type { EntryProblem } from '../providers/kind.ts';
import { providerKindOf } from '../providers/registry.ts';
import type { Path } from './config-problem.ts';
import { type Draft, keysAt, leavesBelow, valueAt } from './draft.ts';
import { type ProviderInput, providerSchema } from './schema/providers.ts';

/** An entry of a draft: its settings, what is wrong with it beyond its shape, or null where its shape is wrong. */
export interface DraftEntry {
  readonly name: string;
  readonly path: Path;
  readonly built: ReturnType<typeof buildProvider> | null;
}

export function readEntries(draft: Draft): readonly DraftEntry[] {
  const named = keysAt(draft, ['providers']).map((name) => ({ name, path: ['providers', name] }));
  return [{ name: defaultEntry, path: [defaultEntry] }, ...named].map(({ name, path }) => {
    const { data } = providerSchema.safeParse(valueAt(draft, path) ?? {});
    return {
      name,
      path,
      built: data === undefined ? null : buildProvider(name, data, writtenAt(draft, path)),
    };
  });
}

/** What stands in the file for an entry. */
export interface WrittenEntry {
  /** Placeholders replaced. */
  readonly written: unknown;
  /** What placeholders put in below a key, but what is too short to be a secret. */
  putInAt(key: string): readonly Secret[];
}

/** Shorter ones stand in ordinary words, which would be blacked out. */
const minSecretLength = 6;

export function writtenAt(draft: Draft, path: Path): WrittenEntry {
  return {
    written: valueAt(draft, path),
    putInAt: (key) =>
      leavesBelow(draft, [...path, key])
        .flatMap((leaf) => draft.putInAt(leaf))
        .flatMap(({ text }) => (text.length < minSecretLength ? [] : [new Secret(text)])),
  };
}

/** The settings of an entry that the schema let through. */
export function buildProvider(
  name: string,
  config: ProviderInput,
  { written, putInAt }: WrittenEntry,
): ProviderEntry | { readonly problems: readonly EntryProblem[] } {
  const { timeout, maxRequestsPerSecond, allowInsecureHttp, topUpUrl = null, backoff, ...own } = config;
  const type = keyOf(own, 'type');
  const typed = { ...own, type: typeof type === 'string' ? type : undefined };
  const kind = providerKindOf(typed);
  const limits = kind.limits(typed);
  return kind.build(
    {
      name,
      type: kind.type,
      timeoutMs: timeout,
      maxRequestsPerSecond: maxRequestsPerSecond ?? limits.requestsPerSecond ?? 1,
      shortestEveryMs: limits.shortestEveryMs ?? null,
      credentialNames: kind.credentials(typed).map((credential) => credential.name),
      allowInsecureHttp,
      topUpUrl,
      backoff: { initialMs: backoff.initial, maxMs: backoff.max },
      written,
      putIn: kind.requestKey === undefined ? [] : putInAt(kind.requestKey),
    },
    typed,
  );
}
