import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { renderWebhookPayload } from '../../src/channels/webhook/webhook-payload.ts';
import { buildMessage } from '../support/messages.ts';

const page = readFileSync(join(import.meta.dirname, '../../docs/webhook.md'), 'utf8');

it('the page about webhooks shows a body as it is sent', () => {
  const sample = /^## Body.*?```json\n(.*?)```/ms.exec(page)?.[1] ?? '';
  expect(JSON.parse(sample)).toEqual(renderWebhookPayload(buildMessage()));
});
