import type { Incident, Resolution } from '../../domain/alert.ts';
import { balanceOf } from '../../domain/quantity.ts';
import { unitOf } from '../../domain/reading.ts';
import type { AccountView } from '../../views/views.ts';
import { sayComment } from '../../wording/comment.ts';
import { type Html, html } from '../../wording/html.ts';
import { sayDuration } from '../../wording/moments.ts';
import { type Listener, phrases, say } from '../../wording/phrase.ts';
import { sayAmount, sayValue, type WordingFrame } from '../../wording/quantity-wording.ts';
import { accountsOf } from './alerts.ts';
import { accountLink, badge, moment, table, unknown } from './markup.ts';
import { common, nameOf, type Scope, stateWord } from './words.ts';

const says = phrases('incidents', {
  none: 'No incident yet.',
  worst: 'Worst',
  began: 'Began',
  lasted: 'Lasted',
  endedBy: 'Ended by',
  acknowledged: 'Acknowledged',
  no: 'no',
  instant: 'an instant',
  open: 'still open',
  toppedUp: '{amount} topped up',
});

const endings = phrases('incidentEnd', {
  recovered: 'recovery',
  'rule-removed': 'rule removed',
  'account-removed': 'account removed',
  'account-moved': 'account read from elsewhere',
  'channel-removed': 'channel removed',
});

/** Incidents, newest first; with `names` also the account of each. */
export async function incidentTable(
  incidents: readonly Incident[],
  frame: Scope,
  { names = false } = {},
): Promise<Html> {
  if (incidents.length === 0) return html`<p class="empty">${say(says.none, frame)}</p>`;
  const accounts = await accountsOf(frame.views, incidents);
  const head = html`<th scope="col">${say(says.worst, frame)}</th>${names && html`<th scope="col">${say(common.account, frame)}</th>`}<th scope="col">${say(common.rule, frame)}</th><th scope="col">${say(says.began, frame)}</th><th scope="col">${say(says.lasted, frame)}</th><th scope="col">${say(says.endedBy, frame)}</th><th scope="col" class="number">${say(common.value, frame)}</th><th scope="col">${say(says.acknowledged, frame)}</th>`;
  const rows = incidents.map((incident) =>
    incidentRow(incident, accounts.get(incident.account), frame, names),
  );
  return table(say(common.incidents, frame), 'cards compact', head, rows);
}

function incidentRow(
  incident: Incident,
  account: AccountView | undefined,
  frame: Scope,
  names: boolean,
): Html {
  const currency =
    account === undefined ? null : unitOf(account, balanceOf(incident.balance, incident.facts));
  const { worstSeverity, rule, firedAt, resolution, value, acknowledgement } = incident;
  return html`<tr><td data-label="${say(says.worst, frame)}">${badge(worstSeverity, stateWord(worstSeverity, frame))}</td>${
    names &&
    html`<td data-label="${say(common.account, frame)}">${incident.account.startsWith('@') ? html`<bdi>${nameOf(incident.accountName)}</bdi>` : accountLink({ id: incident.account, name: incident.accountName })}</td>`
  }<th scope="row"><code>${rule}</code></th>
<td data-label="${say(says.began, frame)}">${moment(firedAt, frame)}</td><td data-label="${say(says.lasted, frame)}">${wordLasted(incident, frame)}</td>
<td data-label="${say(says.endedBy, frame)}">${resolution === null ? unknown(frame) : describeResolution(resolution, { ...frame, currency })}</td>
<td${value?.unit !== 'text' && html` class="number"`} data-label="${say(common.value, frame)}">${sayValue(incident, { ...frame, currency }) ?? unknown(frame)}</td>
<td data-label="${say(says.acknowledged, frame)}">${
    acknowledgement === null
      ? html`<span class="soft">${say(says.no, frame)}</span>`
      : html`<bdi>${acknowledgement.by}</bdi>${acknowledgement.comment !== '' && html`: <q>${sayComment(acknowledgement.comment, frame)}</q>`}<span class="sub">${moment(acknowledgement.at, frame)}</span>`
  }</td></tr>`;
}

/** The duration: `2 hours 5 minutes`, `still open`, `an instant`. */
export function wordLasted(it: Pick<Incident, 'event' | 'firedAt' | 'resolvedAt'>, reader: Listener): string {
  if (it.event) return say(says.instant, reader);
  return it.resolvedAt === null ? say(says.open, reader) : sayDuration(it.resolvedAt - it.firedAt, reader);
}

function describeResolution(resolution: Resolution, frame: WordingFrame): string {
  return resolution.kind === 'topped-up'
    ? say(says.toppedUp, { amount: sayAmount(resolution.micros, frame) }, frame)
    : say(endings[resolution.kind], frame);
}
