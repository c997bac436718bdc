import type { CredentialDefinition, ProviderDetails, ProviderKind } from './kind.ts';

/** The caution about a kind that no document of the vendor describes. */
const observedCaution = 'From public client code; compare the first reading with your dashboard.';

export type ProviderDescription = ReturnType<typeof describeProvider>;

/** A kind of provider as `lowwater providers` and the documents show it. Details and example are null if they depend on the entry. */
export function describeProvider(kind: ProviderKind) {
  const { type, summary, source } = kind;
  const details = kind.details?.() ?? null;
  const credentials: readonly CredentialDefinition[] = details === null ? [] : kind.credentials({ type });
  const limits = kind.limits({ type });
  return {
    type,
    summary,
    source: source.reference,
    certainty: source.certainty,
    /** The caution, if the interface was only observed. */
    caution: source.certainty === 'observed' ? observedCaution : null,
    credentials,
    limits: limits.documented,
    shortestEveryMs: limits.shortestEveryMs ?? null,
    details,
    /** The text to write into the configuration: an entry of `providers` and an account. */
    example: details === null ? null : writeExample(type, credentials, details),
  };
}

function writeExample(
  type: string,
  credentials: readonly CredentialDefinition[],
  { baseUrl }: ProviderDetails,
): object {
  const variables = credentials.map(({ name }) => [name, `\${env:${variableName(type, name)}}`]);
  return {
    providers: { [type]: { type, ...(baseUrl === null ? {} : { baseUrl: 'https://…' }) } },
    accounts: [{ id: `${type}-main`, provider: type, credentials: Object.fromEntries(variables) }],
  };
}

/** A name for a variable, such as `TWILIO_AUTH_TOKEN` for `authToken` of `twilio`. A variable does not begin with a digit. */
function variableName(type: string, credential: string): string {
  const words = `${type}-${credential.replace(/[A-Z]/g, '-$&')}`.toUpperCase().replace(/\W/g, '_');
  return words.replace(/^(?=\d)/, '_');
}
