import { renderAlerts } from '../../src/channels/alertmanager/alertmanager-sender.ts';
import { render as renderPagerDuty } from '../../src/channels/pagerduty/render-pagerduty.ts';
import { codeOf } from '../../src/channels/presets/preset-parts.ts';
import type { PostSettings } from '../../src/channels/receiver.ts';
import { presets } from '../../src/channels/registry.ts';
import { parseJsonObject } from '../../src/domain/json.ts';
import type { Message } from '../../src/domain/message.ts';
import { Secret } from '../../src/domain/secret.ts';
import { type Severity, severities } from '../../src/domain/severity.ts';

/** An alert as the people of a tool see it. */
export interface ShownAlert {
  urgency: Severity | null;
  taken: boolean;
  /** When the tool takes it for over, unless it hears of it again. */
  forgottenAt?: number;
}

interface ToolRequest {
  readonly name: string;
  readonly act: (tool: PagingTool, at: number) => void;
}

/** Those in which people take alerts, and one that forgets what it does not hear again. */
export type ToolType = (typeof toolTypes)[number] | 'alertmanager';

export const toolTypes = ['pagerduty', 'opsgenie', 'goalert', 'incident-io', 'grafana-irm'] as const;

/**
 * An incident tool as its documentation says: an alert for each key, which wakes people when it opens, and never again once
 * somebody has it there. It reads the bodies that the product renders for it.
 */
export class PagingTool {
  readonly shown = new Map<string, ShownAlert>();
  /** Keys for which people were woken, in order. */
  readonly woken: string[] = [];
  readonly forgets: boolean;
  readonly #requestsOf: (message: Message) => readonly ToolRequest[];

  constructor(type: ToolType) {
    this.forgets = type === 'alertmanager';
    this.#requestsOf = requestsTo(type);
  }

  /** Those of its parts that are named, in order; without names all. `at`: when, by the clock of who asks `about` something. */
  receive(message: Message, at = 0): void {
    const requests = this.#requestsOf(message);
    const { recipients } = message;
    const wanted = recipients?.flatMap((name) => requests.filter((each) => each.name === name)) ?? requests;
    for (const { act } of wanted) act(this, at);
  }

  partsOf(message: Message): readonly string[] {
    return this.#requestsOf(message).map(({ name }) => name);
  }

  open(key: string, urgency: Severity | null): void {
    const known = this.shown.get(key);
    if (known === undefined) {
      this.shown.set(key, { urgency, taken: false });
      this.woken.push(key);
    }
  }

  raise(key: string, urgency: Severity): void {
    const known = this.shown.get(key);
    if (known === undefined || known.urgency === urgency) return;
    if (!known.taken) this.woken.push(key);
    known.urgency = urgency;
  }

  take(key: string): void {
    const known = this.shown.get(key);
    if (known !== undefined) known.taken = true;
  }

  close(key: string): void {
    this.shown.delete(key);
  }

  lasts(key: string, urgency: Severity, until: number): void {
    this.shown.set(key, { urgency, taken: false, forgottenAt: until });
  }

  /** What is open about an alert, under all of its keys. */
  about(alert: string, at = 0): readonly ShownAlert[] {
    return [...this.shown].flatMap(([key, shown]) => {
      const isForgotten = at >= (shown.forgottenAt ?? Number.POSITIVE_INFINITY);
      return !isForgotten && (key === alert || key.startsWith(`${alert}/`)) ? [shown] : [];
    });
  }
}

function requestsTo(type: ToolType): (message: Message) => readonly ToolRequest[] {
  if (type === 'alertmanager') return alertmanagerRequests;
  return type === 'pagerduty' ? pagerDutyRequests : presetRequests(type);
}

/** All in one. Its clock is that of who posts to it. */
function alertmanagerRequests(message: Message): readonly ToolRequest[] {
  const alerts = renderAlerts(message, {});
  const act = (tool: PagingTool, at: number): void => {
    for (const { labels, endsAt } of alerts) {
      const { account, rule, severity } = labels;
      const urgency = severities.find((each) => each === severity) ?? 'info';
      const key = `lowwater/${account}/${rule}/${urgency}`;
      tool.lasts(key, urgency, at + Date.parse(endsAt) - message.at);
    }
  };
  return [{ name: 'all', act }];
}

function pagerDutyRequests(message: Message): readonly ToolRequest[] {
  return renderPagerDuty(message).map(({ name, event }) => ({
    name,
    act: (tool) => {
      if (!('dedup_key' in event)) return;
      const { event_action, dedup_key: key } = event;
      if (event_action === 'acknowledge') tool.take(key);
      if (event_action === 'resolve') tool.close(key);
      if (!('payload' in event)) return;
      tool.open(key, event.payload.severity);
      tool.raise(key, event.payload.severity);
    },
  }));
}

const priorities: Readonly<Record<string, Severity>> = { P1: 'critical', P3: 'warning', P5: 'info' };

function presetRequests(type: ToolType): (message: Message) => readonly ToolRequest[] {
  const preset = presets.find((each) => each.type === type);
  if (preset === undefined) throw new Error(`there is no preset ${type}`);
  const { render, prepare } = codeOf(preset);
  const keys = Object.fromEntries(
    Object.keys(preset.keys).map((key) => [key, new Secret('https://tool.example.com')]),
  );
  const settings: PostSettings = {
    type,
    name: 'tool',
    place: new Secret(''),
    address: new Secret(''),
    keys,
    recipients: null,
    mention: {},
  };
  return (message) =>
    render(message, settings).map((part) => {
      const sent = prepare?.(part, settings, { id: message.id, now: message.at });
      const { pathname = '' } = URL.parse(sent?.url ?? '') ?? {};
      const body = parseJsonObject(sent?.body ?? '') ?? Object.fromEntries(new URLSearchParams(sent?.body));
      return { name: part.name, act: (tool) => actOn(tool, pathname, body) };
    });
}

function actOn(tool: PagingTool, pathname: string, body: object): void {
  const [, alias, act] = /\/v2\/alerts\/([^/]+)\/(\w+)$/.exec(pathname) ?? [];
  const field = (name: string): string => String(Reflect.get(body, name) ?? '');
  const names = ['alias', 'dedup', 'deduplication_key', 'alert_uid'];
  const key =
    alias === undefined ? (names.map(field).find((text) => text !== '') ?? '') : decodeURIComponent(alias);
  const isOver =
    act === 'close' ||
    field('action') === 'close' ||
    /^(?:resolved|ok)$/.test(field('status') + field('state'));
  if (isOver) tool.close(key);
  else if (act === 'acknowledge') tool.take(key);
  else if (act === 'priority') tool.raise(key, priorities[field('priority')] ?? 'info');
  else if (act === undefined) tool.open(key, priorities[field('priority')] ?? null);
}
