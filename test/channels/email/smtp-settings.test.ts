import { describe, expect, it } from 'vitest';
import { readSmtpUrl } from '../../../src/channels/email/smtp-connection.ts';
import { channelSchema } from '../../../src/channels/registry.ts';
import { Secret } from '../../../src/domain/secret.ts';

describe('the address of a mail server', () => {
  it.each([
    [
      'smtp://mail.example.com',
      { host: 'mail.example.com', port: 587, secure: false, requireTls: true, login: null },
    ],
    [
      'smtps://mail.example.com',
      { host: 'mail.example.com', port: 465, secure: true, requireTls: false, login: null },
    ],
    [
      'smtp://localhost:2525',
      { host: 'localhost', port: 2525, secure: false, requireTls: false, login: null },
    ],
    ['smtp://[::1]:25', { host: '::1', port: 25, secure: false, requireTls: false, login: null }],
    ['smtp://127.8.9.10', { host: '127.8.9.10', port: 587, secure: false, requireTls: false, login: null }],
    [
      'smtp://localhost.example.com',
      { host: 'localhost.example.com', port: 587, secure: false, requireTls: true, login: null },
    ],
    [
      'smtp://me%40example.com:p%40ss%2Fw%3Aord@mail.example.com:26',
      {
        host: 'mail.example.com',
        port: 26,
        secure: false,
        requireTls: true,
        login: { user: 'me@example.com', password: 'p@ss/w:ord' },
      },
    ],
  ])('%s', (url, server) => {
    expect(readSmtpUrl(new Secret(url), false)).toEqual(server);
  });

  it('may do without encryption only where that is allowed', () => {
    expect(readSmtpUrl(new Secret('smtp://mail.example.com'), true)).toMatchObject({ requireTls: false });
  });

  it.each(['http://mail.example.com', 'smtp://', 'mail.example.com', '', 'smtp://%zz:x@mail.example.com'])(
    'is none: "%s"',
    (smtpUrl) => {
      const channel = { type: 'email', smtpUrl, from: 'a@example.com', to: ['b@example.com'] };
      expect(channelSchema.safeParse(channel).error?.issues).toMatchObject([{ path: ['smtpUrl'] }]);
    },
  );
});
