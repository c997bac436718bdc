import { describe, expect, it } from 'vitest';
import { createChannel } from '../../src/channels/create-channel.ts';
import { Secret } from '../../src/domain/secret.ts';
import type { ChannelSettings } from '../../src/domain/settings.ts';
import { systemClock } from '../../src/system/clock.ts';

const settings: readonly ChannelSettings[] = [
  { type: 'slack', name: 'ops', webhookUrl: new Secret('https://hooks.example.com/x') },
  { type: 'webhook', name: 'pager', url: new Secret('https://pager.example.com/x'), secret: null },
  {
    type: 'email',
    name: 'finance',
    smtpUrl: new Secret('smtp://mail.example.com'),
    from: { name: '', address: 'lowwater@example.com' },
    to: [{ name: '', address: 'ops@example.com' }],
    allowInsecure: false,
    oauth2: null,
  },
];

describe('a channel from the configuration', () => {
  it.each(settings)('has its name and type, and closes without ever having sent: $type', async (each) => {
    const channel = createChannel(each, { clock: systemClock });
    expect(channel).toMatchObject({ name: each.name, type: each.type });
    await channel.close();
  });
});
