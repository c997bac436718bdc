import type { Incident } from '../../src/domain/alert.ts';
import { type ChannelSettings, receiversOf, type Settings } from '../../src/domain/settings.ts';
import type { MonitorState } from '../../src/engine/state.ts';
import type { Batch } from '../../src/ports/store.ts';
import { channelFailedRule } from '../../src/rules/self-alert-kinds.ts';
import { allOf, type Scenario } from './scenario.ts';

type Rename = (name: string) => string;
const failedPrefix = channelFailedRule('');

/**
 * Knows each receiver by the first name that its channel had. What the model sees of a daemon has these names: for its readers a channel
 * that is renamed is the one it was.
 */
export class ReceiverNames {
  /** By what makes a receiver. */
  readonly #first = new Map<string, string>();
  /** The receiver that had a name last, for what a daemon still calls by a name that its settings have no more. */
  readonly #former = new Map<string, string>();
  readonly #batches = new WeakMap<Batch, Batch>();
  /** By the ids of messages: one that ended keeps the name that its channel had then. */
  readonly #sentTo = new Map<string, string>();

  constructor({ settings, events }: Pick<Scenario, 'settings' | 'events'>) {
    const edits = allOf(events).flatMap((it) => (it.kind === 'reload' ? [it.settings] : []));
    for (const { channels } of [settings, ...edits])
      for (const [name, receiver] of receiversOf(channels)) {
        if (!this.#first.has(receiver)) this.#first.set(receiver, name);
        this.#former.set(name, this.#first.get(receiver) ?? name);
      }
  }

  of(channel: ChannelSettings): string {
    return [...this.#namesIn([channel]).values()][0] ?? channel.name;
  }

  sent(message: string, first: string): void {
    this.#sentTo.set(message, first);
  }

  /** The name that a receiver has in these settings. */
  presentOf(first: string, { channels }: Settings): string {
    return channels.find((channel) => this.of(channel) === first)?.name ?? first;
  }

  state(seen: MonitorState): MonitorState {
    const rename = this.#renameIn(seen.settings);
    if (rename === null) return seen;
    const { settings, incidents, alerts } = seen;
    const ruleOf = (rule: string): string => renamedRule(rule, (first) => this.presentOf(first, settings));
    return Object.create(seen, {
      settings: { value: renamedSettings(settings, rename) },
      incidents: {
        value: new Map([...incidents.values()].map((it) => [it.id, renamedIncident(it, rename)])),
      },
      alerts: {
        value: {
          get: (account: string, rule: string) => alerts.get(account, ruleOf(rule)),
          of: (account: string) => alerts.of(account),
          values: () => alerts.values(),
        },
      },
    });
  }

  incidents(settings: Settings, incidents: readonly Incident[]): readonly Incident[] {
    const rename = this.#renameIn(settings);
    return rename === null ? incidents : incidents.map((it) => renamedIncident(it, rename));
  }

  /** The same for each attempt to store it. */
  batch(settings: Settings, batch: Batch): Batch {
    const rename = this.#renameIn(settings);
    if (rename === null) return batch;
    const known = this.#batches.get(batch) ?? {
      ...batch,
      incidents: batch.incidents.map((it) => renamedIncident(it, rename)),
      messages: batch.messages.map((it) => ({
        ...it,
        channel: this.#sentTo.get(it.id) ?? rename(it.channel),
      })),
    };
    this.#batches.set(batch, known);
    return known;
  }

  #namesIn(channels: readonly ChannelSettings[]): ReadonlyMap<string, string> {
    return new Map(
      [...receiversOf(channels)].map(([name, receiver]) => [name, this.#first.get(receiver) ?? name]),
    );
  }

  /** Null where no channel has another name than at first. */
  #renameIn({ channels }: Settings): Rename | null {
    const names = this.#namesIn(channels);
    if (![...names, ...this.#former].some(([name, first]) => name !== first)) return null;
    return (name) => names.get(name) ?? this.#former.get(name) ?? name;
  }
}

function renamedRule(rule: string, rename: Rename): string {
  return rule.startsWith(failedPrefix) ? failedPrefix + rename(rule.slice(failedPrefix.length)) : rule;
}

function renamedIncident(incident: Incident, rename: Rename): Incident {
  const notified = Object.entries(incident.notified).map(([name, last]) => [rename(name), last] as const);
  return {
    ...incident,
    rule: renamedRule(incident.rule, rename),
    notified: Object.fromEntries(notified),
  };
}

/** The same accounts under other names. */
export function renamedAccounts<Named extends { readonly id: string }>(accounts: readonly Named[]): Named[] {
  return accounts.map((it) => ({ ...it, id: `${it.id}-renamed` }));
}

/** The same settings without a channel: what went to it alone goes to the others. */
export function withoutChannel(settings: Settings, gone: string): Settings {
  const channels = settings.channels.filter(({ name }) => name !== gone);
  const left = (names: readonly string[]): readonly string[] => {
    const kept = names.filter((name) => name !== gone);
    return kept.length > 0 ? kept : channels.map(({ name }) => name);
  };
  return {
    ...settings,
    channels,
    routes: settings.routes.map((route) => ({
      ...route,
      channels: left(route.channels),
      escalate: route.escalate && { ...route.escalate, channels: left(route.escalate.channels) },
    })),
    reports: settings.reports.map((it) => ({ ...it, channels: left(it.channels) })),
  };
}

/** The same settings, where each channel has another name. */
export function renamedSettings(settings: Settings, rename: Rename): Settings {
  return {
    ...settings,
    channels: settings.channels.map((it) => ({ ...it, name: rename(it.name) })),
    routes: settings.routes.map(({ channels, escalate, ...rest }) => ({
      ...rest,
      channels: channels.map(rename),
      escalate: escalate === null ? null : { ...escalate, channels: escalate.channels.map(rename) },
    })),
    reports: settings.reports.map((it) => ({ ...it, channels: it.channels.map(rename) })),
  };
}
