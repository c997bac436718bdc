import * as z from 'zod';
import { buildProvider } from '../../src/config/build-settings.ts';
import { providerSchema } from '../../src/config/schema/entries.ts';
import type { ProviderEntry } from '../../src/domain/provider-entry.ts';
import type { Rule } from '../../src/domain/rule.ts';
import { Secret } from '../../src/domain/secret.ts';
import type { AccountSettings, ChannelSettings } from '../../src/domain/settings.ts';
import { severities } from '../../src/domain/severity.ts';
import { providerKinds } from '../../src/providers/registry.ts';
import type { RuleKind } from '../../src/rules/kind.ts';
import { ruleKinds } from '../../src/rules/registry.ts';
import { readWrittenRule } from '../../src/rules/rule-schema.ts';
import { exampleChannels } from '../support/example-channels.ts';
import type { Seeded } from './seeded.ts';

/** Values that people write: a key takes those that its own schema accepts. Each list rises. */
const amounts = [5, 20, 50, 100, 200, 300];
const durations = ['15m', '1h', '6h', '1d', '3d', '7d'];
const values: readonly unknown[] = [...amounts, ...durations, '10%', true, false];

/** Most keys are written half of the time, and what does not go together is drawn again. */
const maxDraws = 200;

/** A rule of a registered kind with any of its keys, as the configuration reads it; `balances` are ids. Throws for a kind of which none can be drawn. */
export function drawRuleOf(
  kind: RuleKind,
  from: Seeded,
  {
    balances,
    ...common
  }: { readonly balances: readonly string[]; readonly id: string; readonly match: object },
): Rule {
  for (let draw = 0; draw < maxDraws; draw++) {
    const own = Object.entries(kind.keys).map(([key, type]) => [
      key,
      key !== 'balance' ? drawValue(from, type) : from.chance(0.3) ? undefined : from.pick(balances),
    ]);
    const timing = from.chance(0.5)
      ? { for: from.pick(['0s', '7m', '20m', '1h', '3h']), recoverFor: from.pick(['0s', '7m', '20m', '1h']) }
      : {};
    const read = readWrittenRule({ ...common, ...timing, type: kind.type, ...Object.fromEntries(own) });
    if (read.kind === 'rule') return read.rule;
  }
  throw new Error(`no rule of type ${kind.type} can be drawn: teach draw-kinds.ts its keys`);
}

function drawValue(from: Seeded, type: z.core.$ZodType): unknown {
  const accepts = (value: unknown): boolean => z.safeParse(type, value).success;
  if (accepts(undefined) && from.chance(0.5)) return undefined;
  const words = z.toJSONSchema(type, { io: 'input', unrepresentable: 'any' }).enum ?? [];
  const choices = [...words, ...values, drawLadder(from, amounts), drawLadder(from, durations)].filter(
    accepts,
  );
  return choices.length === 0 ? undefined : from.pick(choices);
}

/** One to three steps, in one direction or the other. */
function drawLadder(from: Seeded, all: readonly unknown[]): object {
  const steps = from.atLeastOne(severities, 0.6);
  const rising = all.filter(() => from.chance(0.6)).slice(0, steps.length);
  const given = from.chance(0.5) ? rising : rising.toReversed();
  return Object.fromEntries(steps.slice(0, given.length).map((severity, place) => [severity, given[place]]));
}

/** Kinds of rules, `below` as often as most configurations have it. */
export function drawRuleKind(from: Seeded): RuleKind {
  const [first] = ruleKinds;
  return from.chance(0.3) ? first : from.pick<RuleKind>(ruleKinds);
}

/** What entries of kinds need that stand on more than their defaults. */
const entryKeys: readonly object[] = [
  {},
  { baseUrl: 'https://api.example.com' },
  {
    request: {
      url: 'https://api.example.com/balance',
      basic: { user: 'me', password: '{{credentials.password}}' },
    },
    balances: [{ id: 'main', label: 'Wallet', amount: '$.balance' }],
    currency: { path: '$.currency' },
  },
];

const entries = new Map<string, ProviderEntry>();

/** The name of an entry that says everything itself. */
export const ownEntry = 'own';

/** An entry that says everything itself, with one balance of this id. */
export function entryWith(balance: string): ProviderEntry {
  const balances = [{ id: balance, label: 'Wallet', amount: '$.balance' }];
  const written = { type: 'http-json', ...entryKeys[2], balances };
  const built = buildProvider(ownEntry, providerSchema.parse(written), { written, secretsAt: () => [] });
  if ('problems' in built) throw new Error(JSON.stringify(built.problems));
  return built;
}

/** An entry of every registered kind of provider, by its type. Throws for a kind of which none can be made. */
export function entryOfKind(type: string): ProviderEntry {
  const known = entries.get(type);
  if (known !== undefined) return known;
  for (const keys of entryKeys) {
    const { data } = providerSchema.safeParse({ type, ...keys });
    const built =
      data === undefined
        ? null
        : buildProvider(type, data, { written: { type, ...keys }, secretsAt: () => [] });
    if (built === null || 'problems' in built) continue;
    entries.set(type, built);
    return built;
  }
  throw new Error(`no entry of provider type ${type} can be made: teach draw-kinds.ts its keys`);
}

/** Entries of some registered kinds besides the default one, by name. */
export function drawEntries(from: Seeded): Readonly<Record<string, ProviderEntry>> {
  const types = Array.from({ length: from.pick([0, 0, 1, 1, 2]) }, () => from.pick(providerKinds).type);
  return Object.fromEntries(types.map((type) => [type, entryOfKind(type)]));
}

/** Where an account of an entry is asked, and with which key. */
export function accessOf(
  { name, balances, credentialNames, address }: ProviderEntry,
  key: string,
): Pick<AccountSettings, 'provider' | 'credentials' | 'baseUrl' | 'balances' | 'entryAddress'> {
  const credentials = Object.fromEntries(credentialNames.map((credential) => [credential, new Secret(key)]));
  const where = address === undefined ? {} : { entryAddress: address };
  return { provider: name, credentials, baseUrl: null, balances, ...where };
}

/** A channel of a registered kind. Each goes to its own receiver. */
export function drawChannel(from: Seeded, place: number): ChannelSettings {
  const example = from.pick(exampleChannels());
  return { ...example, name: `ch-${place}`, place: new Secret(`https://in.example/secret-place-${place}`) };
}
