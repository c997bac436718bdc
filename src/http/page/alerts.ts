import { severityRank } from '../../domain/severity.ts';
import type { AlertView, FiringView } from '../../views/views.ts';
import { type Html, html } from '../../wording/html.ts';
import {
  accountPath,
  acknowledgeForm,
  alertName,
  type FormPlace,
  giveBackForm,
  silenceForm,
} from './forms.ts';
import { live } from './live.ts';
import { age, badge, type Frame, icon, severityWord } from './words.ts';

/** Whether nobody has this alert yet: it fires, and no person, silence or worse alert speaks for it. */
export function needsSomebody({ acknowledged, silenced, inhibited }: FiringView): boolean {
  return !acknowledged && !silenced && !inhibited;
}

/** Worst first, then the longest standing. */
export function sortAlerts<T extends Pick<AlertView, 'account' | 'rule' | 'severity' | 'since'>>(
  alerts: readonly T[],
): readonly T[] {
  return alerts.toSorted(
    (left, right) =>
      severityRank(right.severity) - severityRank(left.severity) ||
      left.since - right.since ||
      (left.account + left.rule < right.account + right.rule ? -1 : 1),
  );
}

/** One alert with what can be done about it. */
export function alertCard(alert: AlertView, frame: Frame, place: FormPlace): Html {
  const tone = alert.state === 'pending' ? 'pending' : alert.severity;
  const word = alert.state === 'pending' ? 'Pending' : severityWord(alert.severity);
  const content = html`${place.pick}<div class="alert-words"><div class="alert-head">${badge(tone, word)}<p class="alert-what">${summaryLink(alert)}</p></div>
<p class="alert-meta">rule <code>${alert.rule}</code> · since ${age(alert.since, frame)}${conditions(alert, frame)}</p></div>
<div class="acts">${alert.state === 'firing' && alert.acknowledged === null && acknowledgeForm(alert, place)}${
    alert.acknowledged !== null && giveBackForm(alert, place)
  }${!alert.silenced && silenceForm(alert, place)}</div>`;
  return live(`alert ${alertName(alert)}`, content, { tag: 'li', attributes: html`class="alert ${tone}"` });
}

/** Alerts about lowwater itself or a whole provider have no page of their own. */
function summaryLink(alert: AlertView): Html {
  const summary = summaryOf(alert);
  if (alert.account.startsWith('@')) return html`<bdi>${summary}</bdi>`;
  return html`<a href="${accountPath(alert.account)}"><bdi>${summary}</bdi></a>`;
}

/** The summary without the severity, which the badge beside it says already. */
export function summaryOf({ summary, severity }: AlertView): string {
  return summary.replace(` (${severity})`, '');
}

function conditions({ acknowledged, silenced, inhibited, flapping }: AlertView, frame: Frame): Html {
  const comment = acknowledged?.comment ?? '';
  return html`${
    acknowledged !== null &&
    html` · <span class="condition">${icon('person')}acknowledged by <bdi>${acknowledged.by}</bdi> ${age(acknowledged.at, frame)}${comment !== '' && html`: <q>${comment}</q>`}</span>`
  }${silenced && html` · <span class="condition">${icon('silence')}silenced</span>`}${
    inhibited && html` · <span class="condition">covered by a worse alert</span>`
  }${flapping && html` · <span class="condition">flapping</span>`}`;
}
