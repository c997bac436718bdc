import { describe, expect, it } from 'vitest';
import { createChannel } from '../../src/channels/registry.ts';
import { createForeignTexts } from '../../src/domain/foreign-text.ts';
import { systemClock } from '../../src/system/clock.ts';
import { channelOf } from '../support/settings.ts';

describe('a channel from the configuration', () => {
  it.each([
    { type: 'slack', webhookUrl: 'https://hooks.example.com/x' },
    { type: 'webhook', url: 'https://pager.example.com/x' },
    { type: 'email', smtpUrl: 'smtp://mail.example.com', from: 'a@example.com', to: ['ops@example.com'] },
  ])('has its name, and closes without ever having sent: $type', async (config) => {
    const channel = createChannel(channelOf('ops', config), {
      clock: systemClock,
      texts: createForeignTexts([]),
    });
    expect(channel).toMatchObject({ name: 'ops', threadsBySubject: config.type === 'email' });
    await channel.close();
  });
});
