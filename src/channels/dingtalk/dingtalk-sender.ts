import { createHmac } from 'node:crypto';
import type { Secret } from '../../domain/secret.ts';
import type { Sender, SenderDependencies } from '../kind.ts';
import { openPostSender } from '../post-sender.ts';
import { dingtalkAnswers } from './dingtalk-answers.ts';
import type { DingtalkSettings } from './dingtalk-settings.ts';
import { renderDingtalk } from './render-dingtalk.ts';

/** Posts Markdown to a group robot, signed anew on every try. */
export function openDingtalkSender(
  options: SenderDependencies & { readonly settings: DingtalkSettings; readonly timeoutMs?: number },
): Sender {
  const { settings, ...limits } = options;
  const { webhookUrl, secret, mention } = settings;
  return openPostSender({
    ...limits,
    address: webhookUrl,
    table: dingtalkAnswers,
    render: (message) => [JSON.stringify(renderDingtalk(message, mention))],
    prepare: (body, { now }) => ({ url: signedUrl(webhookUrl, secret, now), body }),
  });
}

/**
 * The address with a signature of this moment: base64 of HMAC-SHA256 over `timestamp\nsecret` (milliseconds) with the secret as
 * the key, percent-encoded once (open.dingtalk.com, custom robots, security settings). Without a secret the address as it is.
 */
export function signedUrl(webhookUrl: Secret, secret: Secret | null, now: number): string {
  if (secret === null) return webhookUrl.reveal();
  const url = new URL(webhookUrl.reveal());
  const sign = createHmac('sha256', secret.reveal()).update(`${now}\n${secret.reveal()}`).digest('base64');
  url.searchParams.set('timestamp', String(now));
  url.searchParams.set('sign', sign);
  return url.href;
}
