import * as z from 'zod';
import { parseDuration } from '../../domain/duration.ts';
import { plainAddress } from '../../schema/addresses.ts';
import { shape } from '../../schema/shapes.ts';
import {
  buildDescribedEntry,
  type DescribedEntry,
  describedKind,
  nameBalance,
} from '../http-json/described-kind.ts';
import { type Description, descriptionKeys, descriptionSchema } from '../http-json/description.ts';
import { httpJsonKind } from '../http-json/http-json-kind.ts';
import type { ProviderKind } from '../kind.ts';
import * as presets from './all-presets.ts';
import type { Preset } from './preset.ts';

/** A kind of provider that is a preset: `preset` is what it is made of. */
export interface PresetKind extends ProviderKind<PresetConfig, DescribedEntry> {
  readonly preset: Preset;
  /** Compiled when it is first asked for. */
  describe(): Description;
}

interface PresetConfig extends Partial<Pick<Description, 'balances' | 'currency'>> {
  readonly type?: string;
  readonly baseUrl?: string | undefined;
}

const [firstType = '', ...otherTypes] = Object.values(presets)
  .map(({ type }) => type)
  .toSorted();

/** One schema for all presets: their entries have the same keys. */
const presetSchema = shape({
  type: z
    .enum([firstType, ...otherTypes])
    .meta({ description: 'A provider that lowwater knows; `lowwater providers` says what each needs.' }),
  baseUrl: plainAddress(
    'Replaces scheme and host: a region, a gateway, a test. Some providers give each customer an address: it is required there.',
  ).optional(),
  balances: descriptionKeys.balances.optional(),
  currency: descriptionKeys.currency.optional(),
});

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
    build: (shared, config) => {
      if (preset.baseUrl !== undefined && config.baseUrl === undefined)
        return {
          problems: [{ path: ['baseUrl'], message: `is missing; the address of the API: ${preset.baseUrl}` }],
        };
      return buildDescribedEntry(
        shared,
        {
          ...describe(),
          ...(config.balances === undefined ? {} : { balances: config.balances }),
          ...(config.currency === undefined ? {} : { currency: config.currency }),
        },
        { baseUrl: config.baseUrl, replaceKey: `Create new credentials in the dashboard of ${name},` },
      );
    },
    credentials: () => Object.entries(preset.credentials).map(([key, label]) => ({ name: key, label })),
    limits: () => ({
      ...(shortestEveryMs === null ? {} : { shortestEveryMs }),
      documented: preset.limits,
    }),
    details: () => ({
      request: `${describe().request.method} ${describe().request.url}`,
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

function nameCurrency(currency: Description['currency']): string {
  if ('unit' in currency) return `${currency.unit} (no money)`;
  return 'fixed' in currency ? `${currency.fixed}, which the answer does not say` : 'from the answer';
}

/** Throws where a preset does not describe a provider: a test reads them all. */
function readDescription(preset: Preset): Description {
  const keys = Object.keys(descriptionKeys);
  return descriptionSchema.parse(
    Object.fromEntries(Object.entries(preset).filter(([key]) => keys.includes(key))),
  );
}

/** A kind of provider for each preset, in the order of their names. */
export const presetKinds: readonly PresetKind[] = Object.values(presets)
  .map(presetKind)
  .toSorted((one, other) => (one.type < other.type ? -1 : 1));

/** Every kind that is described as data, by the configuration or by a preset. */
export const describedKinds: readonly ProviderKind[] = [httpJsonKind, ...presetKinds];
