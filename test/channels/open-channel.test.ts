import { describe, expect, it, vi } from 'vitest';
import { createChannel, kindOf } from '../../src/channels/registry.ts';
import { createForeignTexts } from '../../src/domain/foreign-text.ts';
import { systemClock } from '../../src/system/clock.ts';
import { eventually } from '../support/eventually.ts';
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

  it('says why it hears nothing where the code that listens cannot be loaded', async () => {
    const listen = async () => {
      throw Object.assign(new Error('too many open files'), { code: 'EMFILE' });
    };
    const chat = { bot: 'bot', standing: async () => 'stranger' as const, listen };
    vi.spyOn(kindOf({ type: 'slack' }), 'chatOf').mockReturnValueOnce(chat);
    const config = { type: 'slack', webhookUrl: 'https://hooks.example.com/x' };
    const channel = createChannel(channelOf('ops', config), dependencies);
    const listener = channel.chat?.listen(async () => ({ text: '', isPublic: false }));
    expect(listener?.problem()?.reason).toBe('not connected yet');
    await eventually('it has tried', () => listener?.problem()?.reason !== 'not connected yet');
    expect(listener?.problem()?.reason).toBe('this process has no file descriptor left for a connection');
    await listener?.close();
    await channel.close();
  });
});
