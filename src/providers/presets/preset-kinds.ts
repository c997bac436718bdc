import type * as z from 'zod';
import { parseDuration } from '../../domain/time.ts';
import { plainAddress } from '../../schema/addresses.ts';
import { choice, once, shape } from '../../schema/shapes.ts';
import { type Description, descriptionKeys, descriptionSchema } from '../http-json/description.ts';
import {
  buildDescribedEntry,
  type DescribedEntry,
  describedKind,
  httpJsonKind,
  nameBalance,
} from '../http-json/http-json-kind.ts';
import type { ProviderKind } from '../kind.ts';
import * as presets from './all-presets.ts';
import type { Preset } from './preset.ts';

export interface PresetKind extends ProviderKind<PresetConfig, DescribedEntry> {
  readonly preset: Preset;
  describe(): Description;
}

const presetSchema = shape({
  type: choice('A preset; "lowwater providers" says more of each.', typesOf(Object.values(presets))),
  baseUrl: plainAddress('Replaces scheme and host of the preset: a region, a gateway, a test.').optional(),
  balances: descriptionKeys.balances.optional(),
  currency: descriptionKeys.currency.optional(),
});

type PresetConfig = Partial<z.output<typeof presetSchema>>;

function typesOf(all: readonly Preset[]): [string, ...string[]] {
  const [first = '', ...rest] = all.map(({ type }) => type).toSorted();
  return [first, ...rest];
}

function presetKind(preset: Preset): PresetKind {
  const { type, name } = preset;
  let description: Description | null = null;
  const describe = (): Description => {
    description ??= readDescription(preset);
    return description;
  };
  const shortestEveryMs = parseDuration(preset.shortestEvery ?? '');
  return {
    ...describedKind,
    preset,
    describe,
    type,
    summary: name,
    source: {
      reference: preset.source,
      certainty: preset.certainty === 'documented' ? 'documented' : 'observed',
    },
    schema: presetSchema,
    build(shared, { baseUrl, balances, currency }) {
      if (preset.baseUrl !== undefined && baseUrl === undefined)
        return { problems: [{ path: ['baseUrl'], message: `is needed: ${preset.baseUrl}` }] };
      const own = { ...(balances && { balances }), ...(currency && { currency }) };
      const words = {
        replaceKey: `Create new credentials in the dashboard of ${name},`,
        addressKey: 'baseUrl',
      };
      return buildDescribedEntry(shared, { ...describe(), ...own }, words, baseUrl);
    },
    credentials: () => Object.entries(preset.credentials).map(([key, label]) => ({ name: key, label })),
    limits: () => ({ ...(shortestEveryMs === null ? {} : { shortestEveryMs }), documented: preset.limits }),
    details: () => ({
      request: `${describe().request.method} ${describe().request.url}`,
      signed: nameSigning(describe()),
      balances: describe().balances.map(nameBalance),
      currency: nameCurrency(describe().currency),
      baseUrl: preset.baseUrl ?? null,
      notes: preset.notes ?? [],
    }),
    async loadSimulation() {
      const { simulatePreset } = await import('./simulate-preset.ts');
      return simulatePreset(preset, describe());
    },
  };
}

/** How a request is proved: `HMAC-SHA256`, `MD5` or `token`; null if it sends its credentials. */
function nameSigning({ sign = {}, token }: Description): string | null {
  if (token !== undefined) return 'token';
  const steps = Object.values(sign);
  const last = steps.findLast((step) => 'hmac' in step) ?? steps.findLast((step) => 'hash' in step);
  if (last === undefined) return null;
  return ('hmac' in last ? `HMAC-${last.hmac}` : 'hash' in last ? last.hash : '').toUpperCase();
}

function nameCurrency(currency: Description['currency']): string {
  if ('unit' in currency) return `${currency.unit} (no money)`;
  return 'fixed' in currency ? `${currency.fixed}, which the answer does not say` : 'from the answer';
}

/** The description in a preset. Throws if it describes no provider; a test reads all presets. */
function readDescription(preset: Preset): Description {
  const keys = Object.keys(descriptionKeys);
  return descriptionSchema.parse(
    Object.fromEntries(Object.entries(preset).filter(([key]) => keys.includes(key))),
    once,
  );
}

/** A kind of provider for each preset, in the order of their names. */
export const presetKinds: readonly PresetKind[] = Object.values(presets)
  .map(presetKind)
  .toSorted((one, other) => (one.type < other.type ? -1 : 1));

/** Every kind that is described as data, in the configuration or by a preset. */
export const describedKinds: readonly ProviderKind[] = [httpJsonKind, ...presetKinds];
