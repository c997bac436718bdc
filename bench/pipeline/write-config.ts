import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { accountId, accountSecret } from './accounts.ts';

/** Channels that share the accounts: Slack takes one message a second each, which must not stand in the way here. */
export const channelCount = 20;

/** Every tenth account is made to fall below its threshold; consecutive ones belong to different channels. */
export const fallingEvery = 10;

/** A configuration as a large customer would write it: a ladder, a runway, a drop and the built-in rules for each account. */
export function writeConfig(options: {
  readonly directory: string;
  readonly accounts: number;
  readonly every: string;
  readonly providerUrl: string;
  readonly hooksUrl: string;
  /** Default: Slack, `channelCount` of them. */
  readonly channel?: 'slack' | 'webhook';
  readonly channels?: number;
}): string {
  const { directory, accounts, every, providerUrl, hooksUrl, channel = 'slack' } = options;
  const count = options.channels ?? channelCount;
  const channels = Array.from({ length: count }, (_, index) => `channel-${index}`);
  const config = {
    provider: { baseUrl: providerUrl, maxRequestsPerSecond: 20 },
    poll: { every },
    accounts: Array.from({ length: accounts }, (_, number) => ({
      id: accountId(number),
      authSecret: accountSecret(number),
      currency: 'CNY',
      labels: { channel: channelOf(number, count) },
    })),
    rules: [
      {
        id: 'sms-low',
        type: 'below',
        thresholds: { info: 500, warning: 200, critical: 50 },
        hysteresis: '10%',
      },
      { id: 'sms-runway', type: 'runway', thresholds: { warning: '7d', critical: '2d' } },
      { id: 'sms-drop', type: 'drop', by: 100_000, window: '1h' },
      { id: 'currency', type: 'currency' },
    ],
    channels: Object.fromEntries(channels.map((name) => [name, channelAt(`${hooksUrl}/${name}`, channel)])),
    routes: channels.map((name) => ({
      match: { labels: { channel: name } },
      channels: [name],
      groupWait: '0s',
      repeatEvery: '4h',
    })),
    server: { port: 0 },
    storage: { path: 'lowwater.db' },
  };
  const path = join(directory, 'config.json');
  writeFileSync(path, JSON.stringify(config));
  return path;
}

function channelAt(address: string, type: 'slack' | 'webhook'): object {
  return type === 'slack'
    ? { type, webhookUrl: address }
    : { type, url: address, secret: `whsec_${'a'.repeat(32)}` };
}

function channelOf(number: number, count: number): string {
  return `channel-${Math.floor(number / fallingEvery) % count}`;
}
