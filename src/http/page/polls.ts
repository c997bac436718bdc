import { formatAmount } from '../../domain/money.ts';
import type { PollRecord } from '../../domain/reading.ts';
import type { AccountView, Views } from '../../views/views.ts';
import { type Html, html } from '../html.ts';
import { badge, type Frame, momentAndAge, unknown } from './words.ts';

const shownPolls = 12;
const dayMs = 86_400_000;

/** The last polls with their outcomes, newest first. */
export async function pollTable(
  views: Pick<Views, 'polls'>,
  account: AccountView,
  frame: Frame,
): Promise<Html> {
  // Far enough back for the polls shown, and never a day of an account that is polled each second.
  const span = Math.min(dayMs * 7, Math.max(account.pollIntervalMs * shownPolls * 3, 600_000));
  const found = await views.polls(account.id, frame.now - span, frame.now + 1);
  const polls = found.slice(-shownPolls);
  if (polls.length === 0) return html`<p class="empty">No poll lately.</p>`;
  return html`<div class="scroll" role="group" aria-label="Polls" tabindex="0"><table class="cards compact">
<thead><tr><th scope="col">Outcome</th><th scope="col">Time</th><th scope="col" class="number">SMS balance</th><th scope="col" class="number">VoIP balance</th></tr></thead>
<tbody>${polls.toReversed().map((poll) => pollRow(poll, frame))}</tbody></table></div>`;
}

function pollRow({ at, outcome, reading }: PollRecord, frame: Frame): Html {
  return html`<tr><td data-label="Outcome">${badge(outcome === 'ok' ? 'good' : 'unread', outcome.replaceAll('_', ' '))}</td><td data-label="Time">${momentAndAge(at, frame)}</td>
<td class="number" data-label="SMS balance">${reading === null ? unknown() : formatAmount(reading.sms, reading.currency)}</td>
<td class="number" data-label="VoIP balance">${reading === null ? unknown() : formatAmount(reading.voip, reading.currency)}</td></tr>`;
}
