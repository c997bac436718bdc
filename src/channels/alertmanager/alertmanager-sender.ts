import { isAcknowledged } from '../../domain/alert.ts';
import { parseJson } from '../../domain/json.ts';
import { type IncidentMessage, type Message, type MessageItem, stateOf } from '../../domain/message.ts';
import { renameLabels } from '../../domain/rule.ts';
import { Secret } from '../../domain/secret.ts';
import type { ChannelSettings } from '../../domain/settings.ts';
import { isWorse, type Severity, severities } from '../../domain/severity.ts';
import { isoText, minuteMs } from '../../domain/time.ts';
import { linkTo, wordItem } from '../../messages/item-wording.ts';
import { testHeadline } from '../../messages/message-wording.ts';
import { deliverWithin, openHttpConnections, postOnce } from '../../net/http-post.ts';
import type { Delivery } from '../../ports/channel.ts';
import { joinSentences, labelled } from '../../wording/lists.ts';
import { actionFor, newestFirst } from '../alert-key.ts';
import { type AnswerTable, classifyAnswer } from '../answers.ts';
import { tryRender } from '../deliver-parts.ts';
import type { Sender, SenderDependencies } from '../kind.ts';

export interface AlertmanagerSettings extends ChannelSettings {
  /** The address of each member of a cluster, without `/api/v2/alerts`. */
  readonly urls: readonly string[];
  readonly labels: Readonly<Record<string, string>>;
  /** The whole `Authorization` header; null if none is needed. */
  readonly authorization: Secret | null;
}

/**
 * An alert that is not sent again ends after this time. A restart of lowwater takes less, and must not look like an all-clear. Ends are sent
 * again for as long: a member whose clock is behind first sees an end that lies ahead, and keeps the later end that it knows.
 */
const livesMs = 15 * minuteMs;

const batchSize = 200;

interface PostedAlert {
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
  readonly startsAt: string;
  readonly endsAt: string;
  readonly generatorURL?: string;
}

/** Posts to every address. A message that one member took is delivered: the others get what they missed when it is sent again. */
export function openAlertmanagerSender(
  { urls, labels, authorization }: AlertmanagerSettings,
  { clock, texts, table, timeoutMs = 15_000 }: SenderDependencies & { readonly table: AnswerTable },
): Sender {
  const members = urls.map((url) => ({
    url: `${url}/api/v2/alerts`,
    dispatcher: openHttpConnections(new Secret(url), { clock }),
    ends: [] as readonly PostedAlert[],
    latest: Promise.resolve<Delivery>({ kind: 'delivered' }),
  }));
  const headers = {
    'content-type': 'application/json',
    'user-agent': 'lowwater',
    ...(authorization === null ? {} : { authorization: authorization.reveal() }),
  };

  /** Posts the batches of a message to a member in order, behind those of the message before: a firing alert never comes after its end. */
  async function post(
    member: (typeof members)[number],
    rendered: readonly PostedAlert[],
    outer: AbortSignal,
  ): Promise<Delivery> {
    const named = new Set(rendered.map(identityOf));
    const alerts = [...member.ends.filter((end) => !named.has(identityOf(end))), ...rendered];
    let delivery: Delivery = { kind: 'delivered' };
    for (let start = 0; start < alerts.length && delivery.kind === 'delivered'; start += batchSize) {
      const body = JSON.stringify(alerts.slice(start, start + batchSize));
      delivery = await deliverWithin({ clock, afterMs: timeoutMs, outer }, async (signal) => {
        const answer = await postOnce({ ...member, headers, body, signal, clock });
        return classifyAnswer(table, answer, { now: clock.now(), texts });
      });
    }
    const agoMs = ({ endsAt }: PostedAlert): number => clock.now() - Date.parse(endsAt);
    const isOver = (alert: PostedAlert): boolean => agoMs(alert) >= 0 && agoMs(alert) < livesMs;
    member.ends = delivery.kind === 'dead' ? [] : alerts.filter(isOver);
    return delivery;
  }

  return {
    async send(message, outer) {
      const alerts = tryRender(() => renderAlerts(message, labels));
      if ('failed' in alerts) return alerts.failed;
      if (alerts.rendered.length === 0 && members.every(({ ends }) => ends.length === 0))
        return { kind: 'delivered', said: 'Alertmanager takes alerts alone' };
      for (const member of members)
        member.latest = member.latest.then(() => post(member, alerts.rendered, outer));
      return summarise(await Promise.all(members.map(({ latest }) => latest)));
    },
    preview: async (message) => JSON.stringify(renderAlerts(message, labels)),
    close: async () => {
      await Promise.all(members.map(({ dispatcher }) => dispatcher.destroy()));
    },
  };
}

function identityOf({ labels }: PostedAlert): string {
  return JSON.stringify(labels);
}

/** The best answer of any member, with what the others said. */
function summarise(deliveries: readonly Delivery[]): Delivery {
  const delivered = deliveries.find(({ kind }) => kind === 'delivered');
  const reasons = deliveries.flatMap((delivery) => (delivery.kind === 'delivered' ? [] : [delivery.reason]));
  if (delivered?.kind === 'delivered') {
    const [first] = reasons;
    return first === undefined
      ? delivered
      : { ...delivered, said: `${delivered.said}; ${reasons.length} of ${deliveries.length}: ${first}` };
  }
  const retries = deliveries.filter((delivery) => delivery.kind === 'retry');
  const [retry = deliveries[0]] = [...retries.filter(({ certainty }) => certainty === 'unknown'), ...retries];
  if (retry === undefined) throw new Error('a channel without addresses');
  return retry;
}

/** Leaves out reports, and events without an end such as a top-up: as alerts they would page people with good news. */
export function renderAlerts(
  message: Message,
  labels: AlertmanagerSettings['labels'],
): readonly PostedAlert[] {
  switch (message.kind) {
    case 'report':
      return [];
    // It ends as it begins: it shows that alerts are taken, and wakes nobody.
    case 'test': {
      const now = isoText(message.at);
      const name = { ...labels, alertname: 'LowwaterTest', severity: 'info' };
      return [{ labels: name, annotations: { summary: testHeadline(message) }, startsAt: now, endsAt: now }];
    }
    // The newest incident of an alert gives its state. An earlier one ends it at the severity that it had, if that was another.
    case 'incidents': {
      const alerts = newestFirst(message.items)
        .filter((item) => stateOf(item) !== 'event')
        .flatMap((item) => alertsOf(item, message, labels));
      return [...new Map(alerts.toReversed().map((alert) => [identityOf(alert), alert])).values()];
    }
  }
}

/** Labels are an alert's identity (prometheus.io, "Clients"): each severity is another alert. Those of earlier severities end here. */
function alertsOf(
  item: MessageItem,
  message: IncidentMessage,
  labels: AlertmanagerSettings['labels'],
): readonly PostedAlert[] {
  const words = wordItem(item, message);
  const { incident, resolvedAt } = item;
  const isOver = actionFor(item) === 'close';
  // After the clock was set back, both may lie ahead: an alert that ends before it begins is refused, and one that ends later goes on.
  const firedAt = Math.min(item.firedAt, message.at);
  const over = Math.max(Math.min(resolvedAt ?? message.at, message.at), firedAt);
  const page = linkTo(words, 'page');
  const acknowledgement = isAcknowledged(incident) ? incident.acknowledgement : null;
  const alert = (severity: Severity, endsAt: number): PostedAlert => ({
    labels: { ...labelsOf(item, labels), severity },
    annotations: filled({
      summary: words.subject,
      description: [...words.story, ...words.figures.map(({ label, value }) => labelled(label, value))].join(
        '\n',
      ),
      advice: joinSentences(words.advice),
      note: words.note,
      acknowledged_by: acknowledgement?.by,
      top_up_url: linkTo(words, 'top-up'),
      acknowledge_url: linkTo(words, 'acknowledge'),
      runbook_url: linkTo(words, 'runbook'),
    }),
    startsAt: isoText(firedAt),
    endsAt: isoText(endsAt),
    ...(page === null ? {} : { generatorURL: page }),
  });
  const earlier = severities.filter(
    (severity) => severity !== item.severity && !isWorse(severity, incident.worstSeverity),
  );
  const hasMoved = incident.rises > 0 || incident.worstSeverity !== item.severity;
  // A fixed instant: the time of each message would lie ahead, again and again, for a member whose clock is behind.
  const moved = Math.max(firedAt, Math.min(over, incident.escalationSince));
  return [
    alert(item.severity, isOver ? over : message.at + livesMs),
    ...(hasMoved ? earlier.map((severity) => alert(severity, moved)) : []),
  ];
}

/** The labels as they were when the alert fired, so that its identity stays. No configured label replaces one that tells two alerts apart. */
function labelsOf(
  { incident: { account, rule, type, labels, test }, balance }: MessageItem,
  more: AlertmanagerSettings['labels'],
) {
  return filled({
    ...renameLabels(labels, labelName),
    ...more,
    alertname: `Lowwater${type.replace(/(?:^|-)([a-z])/g, (_, letter: string) => letter.toUpperCase())}`,
    account,
    rule,
    balance,
    test: test === undefined ? null : 'true',
  });
}

/** A label name that versions before 0.27 take: letters, digits and _, no digit first. */
function labelName(name: string): string {
  return name.replace(/[^a-zA-Z0-9_]/g, '_').replace(/^(?=[0-9])/, '_');
}

/** The values without empty ones: an empty value is no label and no annotation. */
function filled(
  values: Readonly<Record<string, string | null | undefined>>,
): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(values).flatMap(([name, value]) => (value ? [[name, value] as const] : [])),
  );
}

export function show(body: string): readonly string[] {
  const alerts = parseJson(body) as readonly PostedAlert[];
  return alerts.flatMap(({ labels: { alertname, severity }, annotations, startsAt, endsAt }) => [
    `${alertname} ${severity}, from ${startsAt} to ${endsAt}`,
    ...Object.entries(annotations).map(([name, value]) => `${name}: ${value}`),
  ]);
}
