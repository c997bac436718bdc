import { keyOf } from '../domain/json.ts';
import type { ProviderEntry } from '../domain/provider-entry.ts';
import type { EntryProblem } from '../providers/kind.ts';
import { providerKindOf } from '../providers/registry.ts';
import type { ProviderInput } from './schema/providers.ts';

/** The settings of an entry that the schema let through; `written` is what stands in the file. */
export function buildProvider(
  name: string,
  config: ProviderInput,
  written: unknown,
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
      allowInsecureHttp,
      topUpUrl,
      backoff: { initialMs: backoff.initial, maxMs: backoff.max },
      written,
      limits,
    },
    typed,
  );
}
