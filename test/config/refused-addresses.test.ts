import { test } from 'vitest';
import { account, channel, expectProblem, mail, type ProblemRow } from './problem-rows.ts';
import { placeholder } from './sample.ts';

const oauth2 = {
  user: 'mailer',
  clientId: 'app',
  clientSecret: 'client-secret-1',
  refreshToken: 'refresh-token-1',
  accessUrl: 'https://login.example.com/token',
};

const addresses: ProblemRow[] = [
  [
    'no base address',
    (c) => delete c.provider.baseUrl,
    'provider.baseUrl',
    '"provider"',
    'is missing; the base address of the provider',
  ],
  [
    'a base address without scheme',
    (c) => Object.assign(c.provider, { baseUrl: 'api.example.com' }),
    'provider.baseUrl',
    '"baseUrl"',
    'must be an address that starts with https:// or http://',
  ],
  [
    'a base address with a password',
    (c) => Object.assign(c.provider, { baseUrl: 'https://u:p@api.example.com' }),
    'provider.baseUrl',
    '"baseUrl"',
    'without user, password, query or #',
  ],
  [
    'a base address with a query',
    (c) => Object.assign(c.provider, { baseUrl: 'https://api.example.com/?' }),
    'provider.baseUrl',
    '"baseUrl"',
    'without user, password, query or #',
  ],
  [
    'a base address with a line break',
    (c) => Object.assign(c.provider, { baseUrl: 'https://api.example.com\n' }),
    'provider.baseUrl',
    '"baseUrl"',
    'must be an address',
  ],
  [
    'http to another machine',
    (c) => Object.assign(c.provider, { baseUrl: 'http://api.example.com' }),
    'provider.baseUrl',
    '"baseUrl"',
    'would send the secret unencrypted to another machine: use https://, or set provider.allowInsecureHttp to true',
  ],
  [
    'http to another machine for one account',
    (c) => Object.assign(account(c), { baseUrl: 'HTTP://127.0.0.1.example.com' }),
    'accounts[0].baseUrl',
    '"baseUrl": "HTTP',
    'unencrypted',
  ],
  [
    'a Slack address over http',
    channel({ type: 'slack', webhookUrl: 'http://hooks.slack.com/services/T/B/hunter2' }),
    'channels.ops.webhookUrl',
    '"webhookUrl"',
    'must be the https:// address of a Slack incoming webhook',
  ],
  [
    'a mistyped Slack address',
    channel({ type: 'slack', webhookUrl: 'htps://hooks.slack.com/services/T/B/hunter2' }),
    'channels.ops.webhookUrl',
    '"webhookUrl"',
    'must be the https:// address',
  ],
  [
    'a webhook address that is none',
    channel({ type: 'webhook', url: 'hunter2' }),
    'channels.ops.url',
    '"url"',
    'must be an address that starts with https://',
  ],
  [
    'a signing key that is none',
    channel({ type: 'webhook', url: 'https://example.com', secret: 'hunter2' }),
    'channels.ops.secret',
    '"secret"',
    'must be "whsec_" followed by 24 to 64 bytes in base64',
  ],
  [
    'a short signing key',
    channel({ type: 'webhook', url: 'https://example.com', secret: 'whsec_aHVudGVyMg==' }),
    'channels.ops.secret',
    '"secret"',
    'must be "whsec_"',
  ],
  [
    'a mail server over https',
    mail({ smtpUrl: 'https://mail.example.com' }),
    'channels.finance.smtpUrl',
    '"smtpUrl"',
    'must be smtp://user:password@host:587',
  ],
  [
    'a mail password with a bare slash',
    mail({ smtpUrl: 'smtp://u:hunter2/x@mail.example.com' }),
    'channels.finance.smtpUrl',
    '"smtpUrl"',
    'percent-encoded',
  ],
  [
    'a mail server with options',
    mail({ smtpUrl: 'smtp://mail.example.com/?tls.rejectUnauthorized=false' }),
    'channels.finance.smtpUrl',
    '"smtpUrl"',
    'no path, query or #',
  ],
  [
    'a mail server without host',
    mail({ smtpUrl: 'smtp://' }),
    'channels.finance.smtpUrl',
    '"smtpUrl"',
    'must be smtp://',
  ],
  [
    'a sender with a further header',
    mail({ from: 'x@example.com\r\nBcc: y@example.com' }),
    'channels.finance.from',
    '"from"',
    'must be one mail address',
  ],
  [
    'a recipient that is a list',
    mail({ to: ['a@example.com, b@example.com'] }),
    'channels.finance.to[0]',
    '"a@example.com, b',
    'must be one mail address',
  ],
  [
    'no recipients',
    mail({ to: [] }),
    'channels.finance.to',
    '"to"',
    'must be a list with at least one mail address',
  ],
  [
    'a mail password next to OAuth',
    mail({ oauth2 }),
    'channels.finance.oauth2',
    '"oauth2"',
    'either oauth2 or a password in smtpUrl, not both',
  ],
  [
    'an open server without token',
    (c) => Object.assign(c, { server: { host: '0.0.0.0' } }),
    'server.host',
    '"host"',
    'set server.token, or listen on 127.0.0.1, or set server.allowUnauthenticated to true',
  ],
  [
    'an open server with an empty token',
    (c) => Object.assign(c, { server: { host: '::', token: placeholder('env:NONE:-') } }),
    'server.host',
    '"host"',
    'without a token',
  ],
  [
    'a page address with a query',
    (c) => Object.assign(c.server, { publicUrl: 'https://x.example.com/?a=1' }),
    'server.publicUrl',
    '"publicUrl"',
    'without a path',
  ],
  [
    'a page under a path',
    (c) => Object.assign(c.server, { publicUrl: 'https://tools.example.com/lowwater/' }),
    'server.publicUrl',
    '"publicUrl"',
    'the page works only at the top of an address',
  ],
  [
    'a heartbeat address that is none',
    (c) => Object.assign(c, { heartbeat: { url: 'ftp://example.com' } }),
    'heartbeat.url',
    '"url"',
    'must be an address',
  ],
];

const rows = [...addresses];

test.each(rows)('%s is refused with path, line and what is allowed', (...row) => expectProblem(row));
