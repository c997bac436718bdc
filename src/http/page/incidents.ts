import type { Incident, Resolution } from '../../domain/alert.ts';
import { roughDuration } from '../../domain/moment.ts';
import { formatAmount } from '../../domain/money.ts';
import { unitOf } from '../../domain/reading.ts';
import { type Html, html } from '../../wording/html.ts';
import { sayQuantity } from '../../wording/quantity-wording.ts';
import { accountLink, badge, type Frame, moment, nameOf, severityWord, table, unknown } from './words.ts';

/** Incidents, newest first; with `names` also whose they are. */
export function incidentTable(
  incidents: readonly Incident[],
  account: Parameters<typeof unitOf>[0] | null,
  frame: Frame,
  { names = false } = {},
): Html {
  if (incidents.length === 0) return html`<p class="empty">No incident yet.</p>`;
  const head = html`<th scope="col">Worst</th>${names && html`<th scope="col">Account</th>`}<th scope="col">Rule</th><th scope="col">Began</th><th scope="col">Lasted</th><th scope="col">Ended by</th><th scope="col" class="number">Value</th><th scope="col">Acknowledged</th>`;
  const rows = incidents.map((incident) => incidentRow(incident, account, frame, names));
  return table('Incidents', 'cards compact', head, rows);
}

function incidentRow(
  incident: Incident,
  account: Parameters<typeof unitOf>[0] | null,
  frame: Frame,
  names: boolean,
): Html {
  const currency = account && unitOf(account, incident.balance);
  const { worstSeverity, rule, firedAt, resolution, value, acknowledgement } = incident;
  return html`<tr><td data-label="Worst">${badge(worstSeverity, severityWord(worstSeverity))}</td>${
    names &&
    html`<td data-label="Account">${incident.account.startsWith('@') ? html`<bdi>${nameOf(incident.accountName)}</bdi>` : accountLink({ id: incident.account, name: incident.accountName })}</td>`
  }<th scope="row"><code>${rule}</code></th>
<td data-label="Began">${moment(firedAt, frame)}</td><td data-label="Lasted">${wordLasted(incident)}</td>
<td data-label="Ended by">${resolution === null ? unknown() : describeResolution(resolution, currency)}</td>
<td class="number" data-label="Value">${value === null ? unknown() : sayQuantity(value, { ...frame, currency })}</td>
<td data-label="Acknowledged">${
    acknowledgement === null
      ? html`<span class="soft">no</span>`
      : html`<bdi>${acknowledgement.by}</bdi>${acknowledgement.comment !== '' && html`: <q>${acknowledgement.comment}</q>`}<span class="sub">${moment(acknowledgement.at, frame)}</span>`
  }</td></tr>`;
}

/** How long it lasted: `2 hours 5 minutes`, `still open`, `an instant`. */
export function wordLasted(it: Pick<Incident, 'event' | 'firedAt' | 'resolvedAt'>): string {
  if (it.event) return 'an instant';
  return it.resolvedAt === null ? 'still open' : roughDuration(it.resolvedAt - it.firedAt);
}

function describeResolution(resolution: Resolution, currency: string | null): string {
  const words = {
    recovered: 'recovery',
    'topped-up': 'topped up',
    'rule-removed': 'rule removed',
    'account-removed': 'account removed',
    'account-moved': 'account read from elsewhere',
    'channel-removed': 'channel removed',
  }[resolution.kind];
  return resolution.kind === 'topped-up' ? `${formatAmount(resolution.micros, currency)} ${words}` : words;
}
