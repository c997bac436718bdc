import { keyOf } from '../domain/json.ts';
import { defaultEntry, type ProviderEntry } from '../domain/provider-entry.ts';
import { Secret } from '../domain/secret.ts';
import type { EntryProblem } from '../providers/kind.ts';
import { providerKindOf } from '../providers/registry.ts';
import type { Spot } from './draft.ts';
import { type ProviderInput, providerSchema } from './schema/providers.ts';

/** An entry of a draft: its settings, what is wrong with it beyond its shape, or null where its shape is wrong. */
export interface DraftEntry {
  readonly name: string;
  readonly spot: Spot;
  readonly built: ReturnType<typeof buildProvider> | null;
}

export function readEntries(file: Spot): readonly DraftEntry[] {
  const providers = file.at('providers');
  const named = providers.keys().map((name) => ({ name, spot: providers.at(name) }));
  return [{ name: defaultEntry, spot: file.at(defaultEntry) }, ...named].map(({ name, spot }) => {
    const written = spot.value;
    const { data } = providerSchema.safeParse(written ?? {});
    const putInAt = (key: string) => listPutIn(spot.at(key));
    return { name, spot, built: data === undefined ? null : buildProvider(name, data, { written, putInAt }) };
  });
}

/** Shorter ones stand in ordinary words, which would be blacked out. */
const minSecretLength = 6;

/** What placeholders put in at a place or below it, but what is too short to be a secret. */
function listPutIn(spot: Spot): readonly Secret[] {
  const texts = spot.leaves().flatMap(({ filling }) => filling?.from.map(({ text }) => text) ?? []);
  return texts.filter(({ length }) => length >= minSecretLength).map((text) => new Secret(text));
}

/** The settings of an entry that the schema let through; `written` is what stands in the file, `putInAt` what placeholders put in below a key. */
export function buildProvider(
  name: string,
  config: ProviderInput,
  { written, putInAt }: { readonly written: unknown; readonly putInAt: (key: string) => readonly Secret[] },
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
