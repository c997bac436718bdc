import { describe, expect, it } from 'vitest';
import { listProxySecrets, listSecretTexts } from '../../src/daemon/known-secrets.ts';
import { createForeignTexts } from '../../src/domain/foreign-text.ts';
import { Secret } from '../../src/domain/secret.ts';
import type { Settings } from '../../src/domain/settings.ts';
import { channelOf, makeSettings } from '../support/settings.ts';

function settingsWith(parts: Partial<Settings>): Settings {
  return { ...makeSettings({ accounts: [], channels: [] }), ...parts };
}

const mail = channelOf('mail', {
  type: 'email',
  smtpUrl: 'smtps://lowwater:p%40ssword@mail.example.com',
  from: 'a@example.com',
  to: ['a@example.com'],
});
const signingKey = `whsec_${Buffer.alloc(24, 'k').toString('base64')}`;

describe('the texts that must not leave the process', () => {
  it.each<[string, Partial<Settings>, readonly string[]]>([
    [
      'the address of a Slack webhook and its path, which errors quote alone',
      {
        channels: [
          channelOf('ops', { type: 'slack', webhookUrl: 'https://hooks.slack.com/services/T1/B2/key' }),
        ],
      },
      ['https://hooks.slack.com/services/T1/B2/key', '/services/T1/B2/key'],
    ],
    [
      'what in an address was drawn for it, without the words of its service',
      {
        channels: [
          channelOf('ops', {
            type: 'teams',
            webhookUrl:
              'https://x.example/workflows/0123456789abcdef/triggers/manual?sv=1.0&sig=abcd-Efgh_ijkl',
          }),
        ],
      },
      ['0123456789abcdef', 'abcd-Efgh_ijkl'],
    ],
    [
      'the password of a mail server as it is written and as it is sent',
      { channels: [mail] },
      ['p%40ssword', 'p@ssword'],
    ],
    [
      'the address and the key of a webhook',
      {
        channels: [
          channelOf('w', { type: 'webhook', url: 'https://x.example/hook?t=1', secret: signingKey }),
        ],
      },
      ['https://x.example/hook?t=1', signingKey],
    ],
    [
      'user and password of a webhook’s address as HTTP Basic sends them',
      { channels: [channelOf('w', { type: 'webhook', url: 'https://me:p%40ss@x.example/hook' })] },
      [Buffer.from('me:p@ss').toString('base64')],
    ],
    [
      'the credentials of a header without their scheme, as a server quotes them',
      {
        channels: [
          channelOf('am', { type: 'alertmanager', urls: ['https://am.example'], bearer: 'am-token-4711' }),
          channelOf('b', {
            type: 'alertmanager',
            urls: ['https://am.example'],
            basic: { user: 'lowwater', password: 'pass:word' },
          }),
          channelOf('w', {
            type: 'webhook',
            url: 'https://x.example/hook',
            headers: { Authorization: 'Bearer hook-token-4711' },
          }),
        ],
      },
      ['am-token-4711', 'pass:word', 'hook-token-4711'],
    ],
    [
      'the address of the heartbeat',
      { heartbeat: { url: new Secret('https://hc.example/ping/uuid'), everyMs: 1 } },
      ['/ping/uuid'],
    ],
    [
      'the token of the server',
      {
        server: {
          host: '127.0.0.1',
          port: 1,
          publicUrl: null,
          token: new Secret('the-token'),
          allowUnauthenticated: false,
          openMetrics: false,
          viewerToken: null,
          trustedProxy: null,
        },
      },
      ['the-token'],
    ],
  ])('hold %s', (_name, parts, texts) => {
    expect(listSecretTexts(settingsWith(parts))).toEqual(expect.arrayContaining([...texts]));
  });

  it('hold nothing that would black out ordinary text', () => {
    const heartbeat = { url: new Secret('https://hc.example/'), everyMs: 1 };
    expect(listSecretTexts(settingsWith({ heartbeat }))).toEqual(['https://hc.example/']);
  });

  it('hold no address of a recipient and no name of a mail server: a refusal names both, and is shown', () => {
    const finance = channelOf('mail', {
      type: 'email',
      smtpUrl: 'smtps://lowwater:p%40ssword@mail.example.com',
      from: 'a@example.com',
      to: ['finance@example.com'],
    });
    const texts = createForeignTexts(listSecretTexts({ channels: [finance] }));
    const reply = '5.1.1 <finance@example.com> is not known at mail.example.com';
    expect(texts.clean(reply, 160)).toBe(reply);
    expect(texts.clean('no p@ssword', 160)).toBe('no [secret]');
  });

  it('hold no key of a channel that is no credential: the word "from" stands in ordinary text', () => {
    const gateway = {
      type: 'sms-gateway',
      url: 'https://sms.example/hook',
      token: 'gateway-token',
      to: ['+491511'],
    };
    const chat = {
      type: 'telegram',
      botToken: '123456789:AAbbccddeeffgghhiijjkkllmmnnooppqqr',
      chatId: '-1001',
      listen: true,
    };
    const texts = listSecretTexts({ channels: [channelOf('sms', gateway), channelOf('chat', chat)] });
    expect(texts).toEqual(
      expect.arrayContaining(['gateway-token', '123456789:AAbbccddeeffgghhiijjkkllmmnnooppqqr']),
    );
    for (const text of ['from', 'to', 'text', 'true', '-1001', '+491511']) expect(texts).not.toContain(text);
  });

  it('hold no path of a certificate file of the database, which errors name, but its password', () => {
    const url = new Secret(
      'postgres://u:sesame-0pen@db/lowwater?sslrootcert=/etc/lowwater/ca-2026.pem&x=abcdef0123456',
    );
    const texts = listSecretTexts({ url });
    expect(texts).not.toContain('/etc/lowwater/ca-2026.pem');
    expect(texts).toEqual(expect.arrayContaining([url.reveal(), 'sesame-0pen', 'abcdef0123456']));
  });

  it('hold a short password among the parameters of a database', () => {
    const url = new Secret('postgres://db/lowwater?user=lowwater&password=0pen&sslpassword=k%2By');
    expect(listSecretTexts({ url })).toEqual(expect.arrayContaining(['0pen', 'k+y']));
    expect(listSecretTexts({ url })).not.toContain('lowwater');
  });

  it('hold the password of a database that has several hosts', () => {
    const url = new Secret(
      'postgres://u:sesame%2D0pen@one:5432,two:5432/lowwater?target_session_attrs=primary',
    );
    expect(listSecretTexts({ url })).toEqual(
      expect.arrayContaining([url.reveal(), 'sesame%2D0pen', 'sesame-0pen']),
    );
  });
});

it('the passwords of proxies are among them, as they are and decoded, and no proxy without one', () => {
  const env = {
    HTTPS_PROXY: 'http://me:p%40ss@proxy.example:3128',
    http_proxy: 'me:plain@proxy.example',
    HTTP_PROXY: 'http://proxy.example:3128',
    OTHER: 'http://me:other@x.example',
  };
  expect(listProxySecrets(env)).toEqual(['p%40ss', 'p@ss', 'plain', 'plain']);
});
