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
import type { ProviderKind, SimulatedResponse } from '../kind.ts';

/**
 * A provider as data, in a file of its own: the keys of an `http-json` entry, as an operator would write them, and what people
 * want to know of it.
 */
export interface Preset {
  readonly type: string;
  readonly name: string;
  /** What it was read from. */
  readonly source: string;
  /** `documented`: the vendor's document or official client; `observed`: public clients that agree. */
  readonly certainty: string;
  /** Each with what it is for people, in the order in which they are asked for. */
  readonly credentials: Readonly<Record<string, string>>;
  /** The documented limit, and how old a figure may be. */
  readonly limits: string;
  readonly shortestEvery?: string;
  /** Where each customer has an address of its own: what to give as `baseUrl`. */
  readonly baseUrl?: string;
  readonly notes?: readonly string[];
  /** An answer as the source shows it: for documents and the simulator. */
  readonly sample: unknown;
  /** How it refuses a key or a request too many, where that is not 401 or 429. */
  readonly refusals?: { readonly key?: Refusal; readonly rate?: Refusal };
}

interface Refusal extends Pick<SimulatedResponse, 'status'> {
  readonly body: unknown;
}

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

export function presetKind(preset: Preset): PresetKind {
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
    schema: shape({
      type: z.literal(type).meta({ description: name }),
      baseUrl: baseUrlOf(preset),
      balances: descriptionKeys.balances.optional(),
      currency: descriptionKeys.currency.optional(),
    }),
    build: (shared, config) =>
      buildDescribedEntry(
        shared,
        {
          ...describe(),
          ...(config.balances === undefined ? {} : { balances: config.balances }),
          ...(config.currency === undefined ? {} : { currency: config.currency }),
        },
        { baseUrl: config.baseUrl, replaceKey: `Create new credentials in the dashboard of ${name},` },
      ),
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

function baseUrlOf({ baseUrl }: Preset) {
  const address = plainAddress(
    baseUrl === undefined
      ? 'Replaces scheme and host: a region, a gateway, a test.'
      : `The address of the API: ${baseUrl}.`,
  );
  return baseUrl === undefined ? address.optional() : address;
}

/** Throws where a preset does not describe a provider: a test reads them all. */
function readDescription(preset: Preset): Description {
  const keys = Object.keys(descriptionKeys);
  return descriptionSchema.parse(
    Object.fromEntries(Object.entries(preset).filter(([key]) => keys.includes(key))),
  );
}
