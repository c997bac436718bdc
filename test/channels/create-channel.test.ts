import { describe, expect, it, onTestFinished } from 'vitest';
import { createChannel } from '../../src/channels/create-channel.ts';
import { createForeignTexts } from '../../src/domain/foreign-text.ts';
import { systemClock } from '../../src/system/clock.ts';
import { startHttpReceiver } from '../support/http-receiver.ts';
import { buildMessage } from '../support/messages.ts';
import { channelOf } from '../support/settings.ts';

const dependencies = { clock: systemClock, texts: createForeignTexts([]) };

describe('a channel from the configuration', () => {
  it.each([
    { type: 'slack', webhookUrl: 'https://hooks.example.com/x' },
    { type: 'webhook', url: 'https://pager.example.com/x' },
    { type: 'email', smtpUrl: 'smtp://mail.example.com', from: 'a@example.com', to: ['ops@example.com'] },
  ])('has its name, and closes without ever having sent: $type', async (config) => {
    const channel = createChannel(channelOf('ops', config), dependencies);
    expect(channel).toMatchObject({ name: 'ops', threadsBySubject: config.type === 'email' });
    await channel.close();
  });

  it.each(['slack', 'webhook', 'teams', 'dingtalk', 'feishu', 'wecom', 'pagerduty'])(
    'rehearses a message without a word to its receiver: $0',
    async (type) => {
      const receiver = await startHttpReceiver((response) => response.end('ok'));
      onTestFinished(() => receiver.close());
      const address = {
        webhook: { url: receiver.url, secret: `whsec_${'a'.repeat(32)}` },
        pagerduty: { routingKey: 'a'.repeat(32), baseUrl: receiver.url },
      };
      const keys = Reflect.get(address, type) ?? { webhookUrl: receiver.url };
      const channel = createChannel(channelOf('ops', { type, ...keys }), dependencies);
      onTestFinished(() => channel.close());
      await channel.rehearse?.(buildMessage(), new AbortController().signal);
      expect(receiver.received).toEqual([]);
    },
  );
});
