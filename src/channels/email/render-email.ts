import { domainToASCII } from 'node:url';
import { type Message, stateOf } from '../../domain/message.ts';
import { cleanText } from '../../domain/plain-text.ts';
import type { Mailbox } from '../../domain/settings.ts';
import { messageSubject } from '../../messages/message-wording.ts';
import { renderText } from '../../messages/render-text.ts';
import { renderEmailHtml } from './email-body.ts';
import type { ChartPlan } from './email-charts.ts';

/** A mail as it is handed to the SMTP client, without its pictures. */
export type RenderedEmail = ReturnType<typeof renderEmail>;

/**
 * A message as mail. Nothing in it depends on the attempt: a retry is the same mail. `charts` are the planned
 * ones that could be drawn; the HTML refers to no other. Headers
 * follow RFC 3834 (`Auto-Submitted`), RFC 2919 (`List-Id`) and RFC 5322 (ids); `X-Auto-Response-Suppress`
 * keeps Exchange from answering.
 */
export function renderEmail(
  message: Message,
  order: { readonly from: Mailbox; readonly to: readonly Mailbox[]; readonly charts: readonly ChartPlan[] },
) {
  const domain = domainOf(order.from.address);
  const thread = message.kind === 'incidents' ? message.thread : null;
  const references = thread === null ? [] : [...new Set([thread.firstMessage, ...thread.references])];
  return {
    from: cleanMailbox(order.from),
    to: order.to.map(cleanMailbox),
    subject: cleanText(messageSubject(message), 200),
    text: `${renderText(message, 76)}\n`,
    html: renderEmailHtml(message, order.charts),
    date: new Date(message.at),
    messageId: messageIdOf(message.id, domain),
    ...(thread === null ? {} : { inReplyTo: messageIdOf(thread.firstMessage, domain) }),
    references: references.map((id) => messageIdOf(id, domain)),
    list: { id: { url: `lowwater.${domain}`, comment: 'lowwater alerts' } },
    headers: { 'Auto-Submitted': 'auto-generated', 'X-Auto-Response-Suppress': 'All' },
    ...(isImportant(message) ? { priority: 'high' as const } : {}),
    disableFileAccess: true,
    disableUrlAccess: true,
  };
}

/** An id of ours, or a whole Message-ID as it is. */
function messageIdOf(id: string, domain: string): string {
  const whole = /^<?([A-Za-z0-9._-]+@[A-Za-z0-9.-]+)>?$/.exec(id)?.[1];
  return whole === undefined ? `<${id.replace(/[^A-Za-z0-9._-]/g, '-')}@${domain}>` : `<${whole}>`;
}

function domainOf(address: string): string {
  const domain = domainToASCII(address.slice(address.lastIndexOf('@') + 1));
  return /^[a-z0-9.-]+$/.test(domain) ? domain : 'lowwater.invalid';
}

function cleanMailbox(mailbox: Mailbox): Mailbox {
  return { name: cleanText(mailbox.name, 100), address: mailbox.address };
}

function isImportant(message: Message): boolean {
  if (message.kind !== 'incidents') return false;
  return message.items.some(
    (item) => item.severity === 'critical' && stateOf(item) !== 'resolved' && stateOf(item) !== 'closed',
  );
}
