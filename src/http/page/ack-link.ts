import type { AccountView, AlertView } from '../../views/views.ts';
import { type Html, html } from '../../wording/html.ts';
import { accountLinks, summaryOf } from './alerts.ts';
import { personFields, seenFields } from './forms.ts';
import { accountPath, age, badge, severityWord, type Visit } from './words.ts';

export interface Linked {
  readonly alert: AlertView;
  /** Null for what is about lowwater itself, or an account that was removed. */
  readonly account: AccountView | null;
}

/**
 * Asks before a link from a message acts: previews of links open them too. The signed query goes along with
 * the form.
 */
export function renderAckQuestion(linked: Linked, visit: Visit): Html {
  const { alert } = linked;
  return html`<section class="panel narrow"><h1>Acknowledge this alert?</h1>
<p>${badge(alert.severity, severityWord(alert.severity))} <strong><bdi>${summaryOf(alert)}</bdi></strong></p>
<p class="soft">rule <code>${alert.rule}</code> · since ${age(alert.since, visit)}</p>
<p>Reminders and escalation stop until it resolves or gets worse.</p>
<form method="post" action="/ack">${[...visit.query].map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`)}
${seenFields(alert)}${personFields()}<button>Acknowledge</button></form>${whatNext(linked)}</section>`;
}

/** What came of a link, or why it does nothing; `linked` where there is still something to do. */
export function renderAckAnswer(heading: string, words: Html | string, linked: Linked | null = null): Html {
  return html`<section class="panel narrow"><h1>${heading}</h1><p>${words}</p>${linked === null ? null : whatNext(linked)}<p><a href="/">Open the overview</a></p></section>`;
}

function whatNext({ alert, account }: Linked): Html | null {
  if (account === null) return null;
  const links = accountLinks(account, alert.balance !== null);
  return html`${account.note === null ? null : html`<p><bdi>${account.note}</bdi></p>`}
<p class="act-line">${links.map((link) => html`${link} `)}<a href="${accountPath(account.id)}">Open account</a></p>`;
}
