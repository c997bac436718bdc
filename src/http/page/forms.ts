import { decodePercent } from '../../domain/addresses.ts';
import type { SeenAlert, SeenAlertName } from '../../domain/operator.ts';
import { severities } from '../../domain/severity.ts';
import { parseDuration } from '../../domain/time.ts';
import type { Choices } from '../../views/create-views.ts';
import type { AlertView } from '../../views/views.ts';
import { type Html, type HtmlValue, html } from '../../wording/html.ts';
import { asSentence } from '../../wording/lists.ts';
import { sayExactDuration } from '../../wording/moments.ts';
import { type Listener, phrases, say } from '../../wording/phrase.ts';
import { parseInput } from '../api/input.ts';
import { personSchema } from '../api/orders.ts';
import { RequestError, refusals } from '../refusal.ts';
import type { WebContext } from '../web-env.ts';
import { keepDone, keepName } from './cookies.ts';
import { common, nameOf, type Scope, stateWord } from './words.ts';

export interface FormPlace {
  readonly back: string;
  readonly pick?: Html;
  /** Whether the form is on the account's own page, which already says on top what to do about it. */
  readonly isOnAccount?: boolean;
  /** Whether to show only what is needed to act. The account's page has the rest. */
  readonly isBrief?: boolean;
}

const says = phrases('forms', {
  name: 'Your name',
  asWhom: 'As {name}.',
  giveBack: 'Give back',
  acknowledgeEffect: 'Reminders and escalation stop until this resolves or gets worse.',
  silenceEffect: 'No messages about this meanwhile. What still fires when the silence ends is sent then.',
  for: 'For',
  ofAccount: 'all alerts of {account}',
  everyAccount: 'every account',
  everyRule: 'every rule',
  label: 'Label',
  everyLabel: 'every label',
  everySeverity: 'every severity',
});
const choiceWords = {
  account: { label: common.account, every: says.everyAccount },
  rule: { label: common.rule, every: says.everyRule },
  label: { label: says.label, every: says.everyLabel },
};

/** The longest list to choose from. Of more, one is typed: a list of thousands would be most of its page. */
export const maxChoices = 200;

/** The alerts of one card: one alert, or several with one cause. */
export type CardAlerts = readonly [AlertView, ...AlertView[]];

export function giveBackForm([alert, ...others]: CardAlerts, { back }: FormPlace, scope: Scope): Html {
  const [action, fields] =
    others.length === 0
      ? [
          `/alerts/${alertName(alert)}/unacknowledge`,
          html`${seenFields(alert)}${hidden('seen-holder', alert.acknowledged?.by ?? null)}`,
        ]
      : [
          '/alerts/many',
          html`${hidden('do', 'unacknowledge')}${hidden('alert', pickedNames([alert, ...others]))}`,
        ];
  return html`<form method="post" action="${action}">${hidden('back', back)}${fields}<button class="quiet">${say(says.giveBack, scope)}<span class="hidden"> ${sayAlert(alert, scope)}</span></button></form>`;
}

/** The form to acknowledge the alerts of a card, folded at first. Works without a script and by keyboard. */
export function acknowledgeForm([alert, ...others]: CardAlerts, { back }: FormPlace, scope: Scope): Html {
  const [action, fields] =
    others.length === 0
      ? [`/alerts/${alertName(alert)}/acknowledge`, seenFields(alert)]
      : ['/alerts/many', hidden('alert', pickedNames([alert, ...others]))];
  return html`<details class="act" data-key="acknowledge"><summary>${say(common.acknowledge, scope)}<span class="hidden"> ${sayAlert(alert, scope)}</span></summary>
<form method="post" action="${action}">
<p>${say(says.acknowledgeEffect, scope)}</p>
${hidden('back', back)}${fields}
${personFields(scope)}
<button>${say(common.acknowledge, scope)}</button>
</form></details>`;
}

type Target = Pick<AlertView, 'account' | 'accountName'> & { readonly rule: string | null };

function sayAlert({ accountName, rule }: Target, scope: Scope): string {
  const account = nameOf(accountName);
  return rule === null
    ? say(says.ofAccount, { account }, scope)
    : say(common.ofAccount, { rule, account }, scope);
}

/** The form to silence the alerts of a card, or all of an account. It names what it mutes, so no confirmation is needed. */
export function silenceForm(
  [target, ...others]: readonly [Target] | CardAlerts,
  { back }: FormPlace,
  scope: Scope,
): Html {
  const [action, fields] =
    'severity' in target && others.length > 0
      ? ['/alerts/many', html`${hidden('do', 'silence')}${hidden('alert', pickedNames([target, ...others]))}`]
      : [
          '/silences',
          html`${hidden('confirmed', 'yes')}${hidden('account', target.account)}${target.rule !== null && hidden('rule', target.rule)}${'severity' in target && seenFields(target)}`,
        ];
  return html`<details class="act" data-key="silence"><summary>${say(common.silence, scope)}<span class="hidden"> ${sayAlert(target, scope)}</span></summary>
<form method="post" action="${action}">
<p>${say(says.silenceEffect, scope)}</p>
${hidden('back', back)}${fields}
${durationField(scope)}
${personFields(scope)}
<button>${say(common.silence, scope)}</button>
</form></details>`;
}

export function hidden(name: string, value: string | null): Html {
  return html`<input type="hidden" name="${name}" value="${value}">`;
}

/** Hidden fields with the incident and severity that the page shows: an order about another incident is refused. */
export function seenFields({ incident, severity }: Pick<AlertView, 'incident' | 'severity'>): Html {
  return html`${hidden('seen-incident', incident ?? '')}${hidden('seen-severity', severity)}`;
}

/** The value of a tick box: alerts in one text, with the incident and severity that are shown. */
export function pickedNames(alerts: readonly AlertView[]): string {
  return alerts
    .map((alert) => {
      const { incident, severity, acknowledged } = alert;
      const seen = [incident ?? '', severity, ...(acknowledged === null ? [] : [acknowledged.by])];
      return `${alertName(alert)}/${seen.map(encodeURIComponent).join('/')}`;
    })
    .join(' ');
}

/** `given`: the form as it was sent before. */
export function personFields(scope: Scope, given = new URLSearchParams()): Html {
  return html`${nameField(given.get('by'), scope)}
<label>${say(common.comment, scope)} <input name="comment" maxlength="500" autocomplete="off" value="${given.get('comment')}"></label>`;
}

/** The field for a name, filled with the name that this browser gave last. A name that the trusted proxy gives is shown, not asked for. */
export function nameField(given: string | null, scope: Scope): Html {
  const { name = '', isProven = false } = scope.reader ?? {};
  if (isProven) return html`<p class="soft">${say(says.asWhom, { name }, scope)}</p>`;
  return html`<label>${say(says.name, scope)} <input name="by" required maxlength="100" autocomplete="name" value="${given ?? name}"></label>`;
}

const durations = ['1h', '2h', '4h', '8h', '1d', '3d', '7d', '30d'];

export function durationField(scope: Scope, chosen = '2h'): Html {
  const worded = durations.map((text) => [text, sayExactDuration(parseDuration(text) ?? 0, scope)] as const);
  return html`<label>${say(says.for, scope)} <select name="for">${options(worded, chosen)}</select></label>`;
}

/** A list of what exists, or a text field if that is too much to choose from; with the problem of the field, if any. */
export function textChoice(
  subject: keyof typeof choiceWords,
  choices: Choices,
  { chosen, problem }: { readonly chosen: string; readonly problem?: string | undefined },
  reader: Listener,
): Html {
  const { label, every } = choiceWords[subject];
  const wrong = problem === undefined ? null : problemAt(subject, problem);
  if (choices.length > maxChoices) {
    return html`<label>${say(label, reader)} <input name="${subject}" value="${chosen}" maxlength="200" placeholder="${say(every, reader)}" autocomplete="off"${wrong?.attributes}>${wrong?.words}</label>`;
  }
  const known = choices.some(([value]) => value === chosen);
  const gone = known || chosen === '' ? [] : [[chosen, chosen] as const];
  return html`<label>${say(label, reader)} <select name="${subject}"${wrong?.attributes}>${options([['', say(every, reader)], ...gone, ...choices], chosen)}</select>${wrong?.words}</label>`;
}

/** The problem of a field, shown next to it, and the attributes that refer the field to it. */
export function problemAt(name: string, problem: string) {
  return {
    attributes: html` aria-invalid="true" aria-describedby="${name}-problem"`,
    words: html`<span class="problem" role="alert" id="${name}-problem">${asSentence(problem)}</span>`,
  };
}

export function options(choices: Choices, chosen: string | null): readonly Html[] {
  return choices.map(
    ([value, word]) => html`<option value="${value}"${value === chosen && html` selected`}>${word}</option>`,
  );
}

/** The options for severity: each one, and none in particular. */
export function severityOptions(chosen: string | null, reader: Listener): readonly Html[] {
  const words = severities.map((severity) => [severity, stateWord(severity, reader)] as const);
  return options([['', say(says.everySeverity, reader)], ...words], chosen ?? '');
}

/** A link to one of several views of the same things. The view that is shown is marked. */
export function choiceLink(path: string, word: HtmlValue, current: boolean, mark = 'true'): Html {
  return html`<a href="${path}"${current && html` aria-current="${mark}"`}>${word}</a>`;
}

/** Account and rule in one text: the name of an alert within a page. */
export function alertName({ account, rule }: Pick<AlertView, 'account' | 'rule'>): string {
  return `${encodeURIComponent(account)}/${encodeURIComponent(rule)}`;
}

export function readPerson(form: URLSearchParams): { readonly by: string; readonly comment: string } {
  const { by = '', comment = '' } = parseInput(personSchema, {
    by: form.get('by') ?? '',
    comment: form.get('comment') ?? '',
  });
  return { by: by.trim(), comment: comment.trim() };
}

/** The hidden fields of `seenFields`. A form that is sent without a page may lack them. */
export function readSeen(form: URLSearchParams): { readonly seen?: SeenAlert } {
  const incident = form.get('seen-incident');
  return incident === null
    ? {}
    : { seen: seenAs(incident, form.get('seen-severity'), form.get('seen-holder')) };
}

/** Reads ticked alerts as `pickedNames` writes them, and leaves out any other text. */
export function readPicked(picked: string): readonly SeenAlertName[] {
  return picked.split(' ').flatMap((name) => {
    const [account, rule, incident, severity, holder] = name.split('/').map(decodePercent);
    if (!account || !rule) return [];
    return { account, rule, ...(incident == null ? {} : { seen: seenAs(incident, severity, holder) }) };
  });
}

function seenAs(
  incident: string,
  severity: string | null | undefined,
  holder: string | null | undefined,
): SeenAlert {
  return {
    incident: incident === '' ? null : incident,
    severity: severities.find((known) => known === severity),
    ...(holder != null && { holder }),
  };
}

/** Redirects to the page that showed the form, which then says what was done. */
export function sendBack(context: WebContext, form: URLSearchParams, done: string): Response {
  const url = new URL(readOwnPath(form.get('back') ?? undefined), 'http://own');
  url.searchParams.set('done', done);
  keepDone(context, done);
  keepName(context, form.get('by') ?? '');
  return context.redirect(url.pathname + url.search, 303);
}

/** A path of this server. Text that could lead elsewhere becomes the overview. */
export function readOwnPath(text: string | undefined): string {
  if (text === undefined || !text.startsWith('/') || text.length > 2_000) return '/';
  const url = URL.parse(text, 'http://own');
  if (url === null || url.origin !== 'http://own') return '/';
  // Resolving dots, as in `/..//name`, can leave two slashes in front, and what follows those is a host.
  const path = url.pathname + url.search;
  return /^\/(?![/\\])/.test(path) ? path : '/';
}

/** The fields of a form. `by` is the name that a trusted proxy gave, if it gave one. */
export async function readForm({ req, get }: WebContext): Promise<URLSearchParams> {
  const type = (req.header('content-type') ?? '').split(';')[0]?.trim().toLowerCase();
  if (type !== 'application/x-www-form-urlencoded')
    throw new RequestError('unsupported_media_type', refusals.noForm());
  const form = new URLSearchParams(await req.text());
  const person = get('person');
  if (person !== null) form.set('by', person);
  return form;
}
