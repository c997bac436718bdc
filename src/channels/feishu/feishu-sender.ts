import { createHmac } from 'node:crypto';
import type { Secret } from '../../domain/secret.ts';
import type { Sender, SenderDependencies } from '../kind.ts';
import { openPostSender } from '../post-sender.ts';
import { feishuAnswers } from './feishu-answers.ts';
import type { FeishuSettings } from './feishu-settings.ts';
import { renderFeishu } from './render-feishu.ts';

/** Posts a card to a custom bot, signed anew on every try. */
export function openFeishuSender(
  options: SenderDependencies & { readonly settings: FeishuSettings; readonly timeoutMs?: number },
): Sender {
  const { settings, ...limits } = options;
  const { webhookUrl, secret, mention } = settings;
  return openPostSender({
    ...limits,
    address: webhookUrl,
    table: feishuAnswers,
    render: (message) => [JSON.stringify(renderFeishu(message, mention))],
    prepare: (body, { now }) => ({
      url: webhookUrl.reveal(),
      body: secret === null ? body : `{${signature(secret, now)},${body.slice(1)}`,
    }),
  });
}

/**
 * Two members for the body: base64 of HMAC-SHA256 over nothing, with `timestamp\nsecret` (seconds) as the key (open.feishu.cn,
 * custom bots, signature verification).
 */
function signature(secret: Secret, now: number): string {
  const timestamp = String(Math.floor(now / 1000));
  const sign = createHmac('sha256', `${timestamp}\n${secret.reveal()}`).digest('base64');
  return `"timestamp":"${timestamp}","sign":"${sign}"`;
}
