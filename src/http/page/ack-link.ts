import type { AlertView } from '../../views/views.ts';
import { type Html, html } from '../html.ts';
import { summaryOf } from './alerts.ts';
import { personFields } from './forms.ts';
import { age, badge, type Frame, severityWord } from './words.ts';

/**
 * Asks before a link from a message acts: previews of links open them too. The signed query goes along with
 * the form.
 */
export function renderAckQuestion(alert: AlertView, query: URLSearchParams, frame: Frame): Html {
  return html`<section class="panel narrow"><h1>Acknowledge this alert?</h1>
<p>${badge(alert.severity, severityWord(alert.severity))} <strong><bdi>${summaryOf(alert)}</bdi></strong></p>
<p class="soft">rule <code>${alert.rule}</code> · since ${age(alert.since, frame)}</p>
<p>Reminders and escalation stop until it resolves or gets worse.</p>
<form method="post" action="/ack">${[...query].map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`)}
${personFields()}<button>Acknowledge</button></form></section>`;
}

/** What came of a link, or why it does nothing. */
export function renderAckAnswer(heading: string, words: Html | string): Html {
  return html`<section class="panel narrow"><h1>${heading}</h1><p>${words}</p><p><a href="/">Open the overview</a></p></section>`;
}
