import { hostname } from 'node:os';
import { type ParsedMail, simpleParser } from 'mailparser';
import { afterAll, describe, expect, it } from 'vitest';
import { type EmailSettings, openEmailSender } from '../../../src/channels/email/email-sender.ts';
import type { Sender } from '../../../src/channels/kind.ts';
import type { Message } from '../../../src/domain/message.ts';
import { Secret } from '../../../src/domain/secret.ts';
import type { Delivery } from '../../../src/ports/channel.ts';
import type { Clock } from '../../../src/ports/clock.ts';
import { systemClock } from '../../../src/system/clock.ts';
import { startHttpReceiver } from '../../support/http-receiver.ts';
import { buildItem, buildMessage, buildTestMessage } from '../../support/messages.ts';
import { textsAround } from '../../support/settings.ts';
import {
  politeSmtp,
  type SmtpReceiver,
  smtpReply,
  startScriptedSmtp,
  startSmtpReceiver,
} from '../../support/smtp-receiver.ts';

const password = 'p@ss/wörd:very-secret';
const open: { close(): Promise<void> }[] = [];

afterAll(async () => {
  for (const each of open.splice(0)) await each.close();
});

describe('a mail that is accepted', () => {
  it('is delivered with text, HTML and the chart inline', async () => {
    const { delivery, receiver } = await sendTo(await startSmtpReceiver());
    expect(delivery).toMatchObject({ kind: 'delivered' });
    const mail = await parse(receiver);
    expect(mail.subject).toBe('CRITICAL OTP production: SMS balance low since 21 Nov 02:22');
    expect(mail.text).toContain('CRITICAL · OTP production: pay 1,400 CNY, empty about Sat 23:44');
    expect(mail.attachments).toHaveLength(1);
    expect(mail.attachments[0]).toMatchObject({
      contentType: 'image/png',
      contentDisposition: 'inline',
      related: true,
    });
    expect(mail.attachments[0]?.content.subarray(1, 4).toString()).toBe('PNG');
    // The parser puts each picture where its id is used: once, so nothing is missing and nothing left over.
    expect(String(mail.html).match(/src="data:image\/png;base64,/g)).toHaveLength(1);
    expect(receiver.recipients).toEqual([['ops@example.com', 'finance@example.com']]);
  });

  it('keeps its Message-ID, its date and its content on a retry', async () => {
    const receiver = await startSmtpReceiver();
    const { channel } = await sendTo(receiver);
    await channel.send(buildMessage(), new AbortController().signal);
    const [first, second] = await Promise.all(receiver.received.map((raw) => simpleParser(raw)));
    expect(second?.messageId).toBe('<5b0f5a2e-77a8-4a55-8f4b-0d9f0f0c2b10@example.com>');
    expect(second?.messageId).toBe(first?.messageId);
    expect(second?.date).toEqual(first?.date);
    expect(second?.html).toBe(first?.html);
  });

  it('logs in with the percent-decoded user and password of the URL', async () => {
    let seen: unknown = null;
    const receiver = await startSmtpReceiver({
      authOptional: false,
      allowInsecureAuth: true,
      onAuth(auth, _session, done) {
        seen = { user: auth.username, pass: auth.password };
        done(null, { user: auth.username });
      },
    });
    const url = `smtp://${encodeURIComponent('me@example.com')}:${encodeURIComponent(password)}@127.0.0.1:${receiver.port}`;
    const { delivery } = await sendTo(receiver, { smtpUrl: new Secret(url) });
    expect(delivery).toMatchObject({ kind: 'delivered' });
    expect(seen).toEqual({ user: 'me@example.com', pass: password });
  });

  it('reports the one recipient that was refused, while the others have it', async () => {
    const receiver = await startSmtpReceiver({
      onRcptTo: ({ address }, _session, done) =>
        done(address.startsWith('finance') ? smtpReply(550, 'no such user') : null),
    });
    const { delivery } = await sendTo(receiver);
    expect(delivery).toMatchObject({ kind: 'delivered', refusedRecipients: ['finance@example.com'] });
    expect(delivery).not.toHaveProperty('owed');
    expect(receiver.received).toHaveLength(1);
  });

  it.each([
    [450, { afterMs: 300_000 }],
    [451, { afterMs: 300_000 }],
    [452, {}],
  ])('owes it to the one that was refused for now with %d', async (code, wait) => {
    const receiver = await startSmtpReceiver({
      onRcptTo: ({ address }, _session, done) =>
        done(address.startsWith('finance') ? smtpReply(code, 'later') : null),
    });
    const { delivery } = await sendTo(receiver);
    const reason = `the mail server answered ${code} later`;
    expect(delivery).toMatchObject({ kind: 'delivered' });
    expect(delivery).toHaveProperty('owed', { recipients: ['finance@example.com'], reason, ...wait });
    expect(delivery).not.toHaveProperty('refusedRecipients');
  });

  it('goes to those alone who are still owed it, as the same mail', async () => {
    const { receiver } = await sendTo(await startSmtpReceiver(), {}, 5000, {
      ...buildMessage(),
      recipients: ['finance@example.com'],
    });
    expect(receiver.recipients).toEqual([['finance@example.com']]);
    expect((await parse(receiver)).to).toMatchObject({ text: expect.stringContaining('ops@example.com') });
  });

  it('goes to who was refused for now, whatever letters the configuration writes the address in', async () => {
    let isRefused = true;
    const receiver = await startSmtpReceiver({
      onRcptTo: ({ address }, _session, done) =>
        done(isRefused && address.startsWith('Ada') ? smtpReply(450, 'later') : null),
    });
    const to = ['ops@example.com', 'Ada@Finance.Example.COM'].map((address) => ({ name: '', address }));
    const { delivery, channel } = await sendTo(receiver, { to });
    const { owed } = delivery as Extract<Delivery, { kind: 'delivered' }>;
    isRefused = false;
    await sendBy(channel, { ...buildMessage(), recipients: owed?.recipients ?? [] });
    await sendBy(channel, { ...buildMessage(), except: owed?.recipients ?? [] });
    const all = [['ops@example.com'], ['Ada@finance.example.com'], ['ops@example.com']];
    expect(receiver.recipients).toEqual(all);
  });

  it('is done when nobody who is owed it is left in the configuration', async () => {
    const { delivery, receiver } = await sendTo(await startSmtpReceiver(), {}, 5000, {
      ...buildMessage(),
      recipients: ['gone@example.com'],
    });
    expect(delivery).toEqual({ kind: 'delivered' });
    expect(receiver.received).toHaveLength(0);
  });

  it('goes out again without its charts where it is too large with them', async () => {
    let asked = 0;
    const sizes: number[] = [];
    const receiver = await startSmtpReceiver({
      onData: (stream, _session, done) => {
        let size = 0;
        stream.on('data', (chunk: Buffer) => {
          size += chunk.length;
        });
        stream.on('end', () => {
          sizes.push(size);
          asked += 1;
          done(asked === 1 ? smtpReply(552, 'message too large') : null);
        });
      },
    });
    expect((await sendTo(receiver)).delivery).toMatchObject({ kind: 'delivered' });
    expect(sizes).toHaveLength(2);
    expect(sizes[1]).toBeLessThan((sizes[0] ?? 0) / 2);
  });

  it('goes out without its charts at once where the server says that it takes no more', async () => {
    const polite = politeSmtp({ EHLO: '250-test\r\n250 SIZE 20000' });
    const commands: string[] = [];
    const receiver = await startScriptedSmtp((command, socket) => {
      commands.push(command);
      return polite(command, socket);
    });
    expect((await sendTo(receiver)).delivery).toMatchObject({ kind: 'delivered' });
    expect(receiver.received).toHaveLength(1);
    expect((await parse(receiver)).attachments).toHaveLength(0);
    expect(commands.filter((command) => command === 'DATA')).toHaveLength(1);
  });

  it('is brought by a client with a name that is no loopback address, in a container too', async () => {
    const greetings: string[] = [];
    const polite = politeSmtp({});
    const receiver = await startScriptedSmtp((command, socket) => {
      if (command.startsWith('EHLO')) greetings.push(command);
      return polite(command, socket);
    });
    await sendTo(receiver);
    expect(greetings).toEqual([`EHLO ${hostname().includes('.') ? hostname() : 'example.com'}`]);
  });
});

describe('a login by OAuth 2', () => {
  it('fetches a token and uses it for the mails that follow', async () => {
    const logins: string[] = [];
    const receiver = await startSmtpReceiver({
      authOptional: false,
      allowInsecureAuth: true,
      authMethods: ['XOAUTH2'],
      onAuth(auth, _session, done) {
        logins.push(String(auth.accessToken));
        done(null, { user: 'me' });
      },
    });
    const tokens = await startHttpReceiver((response) =>
      response.end('{"access_token":"fresh","expires_in":3600}'),
    );
    open.push(tokens);
    const { delivery, channel } = await sendTo(receiver, { oauth2: oauth2At(tokens.url) });
    expect(delivery).toMatchObject({ kind: 'delivered' });
    await sendBy(channel);
    expect(logins).toEqual(['fresh', 'fresh']);
    expect(tokens.received).toHaveLength(1);
  });

  it('that the mail server refuses points to "oauth2", not to a password', async () => {
    const EHLO = '250-test\r\n250 AUTH XOAUTH2';
    const receiver = await startScriptedSmtp(politeSmtp({ EHLO, AUTH: '535 5.7.8 not accepted' }));
    const tokens = await startHttpReceiver((response) =>
      response.end('{"access_token":"fresh","expires_in":3600}'),
    );
    open.push(tokens);
    const reason =
      'the mail server answered 535 5.7.8 not accepted: the login is refused. Check "oauth2", and that its user may send mail';
    const { delivery } = await sendTo(receiver, { oauth2: oauth2At(tokens.url) });
    expect(delivery).toEqual({ kind: 'dead', reason });
  });

  it('is dead when the refresh token is refused, without showing it', async () => {
    const receiver = await startSmtpReceiver({
      authOptional: false,
      allowInsecureAuth: true,
      authMethods: ['XOAUTH2'],
    });
    const tokens = await startHttpReceiver((response) =>
      response.writeHead(400).end('{"error":"invalid_grant","error_description":"very-secret"}'),
    );
    open.push(tokens);
    const { delivery } = await sendTo(receiver, { oauth2: oauth2At(tokens.url) });
    expect(delivery).toEqual({
      kind: 'dead',
      reason: 'no access token: the OAuth 2 client or its refresh token is refused',
    });
  });

  it('is tried again when the token server is down', async () => {
    const receiver = await startSmtpReceiver({
      authOptional: false,
      allowInsecureAuth: true,
      authMethods: ['XOAUTH2'],
    });
    const tokens = await startHttpReceiver((response) => response.writeHead(503).end('<html>'));
    open.push(tokens);
    const { delivery } = await sendTo(receiver, { oauth2: oauth2At(tokens.url) });
    expect(delivery).toMatchObject({ kind: 'retry', certainty: 'refused' });
  });
});

describe('a mail that is refused', () => {
  it('for every recipient is dead', async () => {
    const { delivery } = await sendTo(
      await startSmtpReceiver({
        onRcptTo: (_address, _session, done) => done(smtpReply(550, 'no such user')),
      }),
    );
    expect(delivery).toEqual({ kind: 'dead', reason: 'the mail server answered 550 no such user' });
  });

  it('by greylisting is tried again after five minutes', async () => {
    const { delivery } = await sendTo(
      await startSmtpReceiver({ onRcptTo: (_address, _session, done) => done(smtpReply(451, 'greylisted')) }),
    );
    expect(delivery).toEqual({
      kind: 'retry',
      certainty: 'refused',
      afterMs: 300_000,
      reason: 'the mail server answered 451 greylisted',
    });
  });

  it('for good for some and for now for the last waits for that one alone', async () => {
    const receiver = await startSmtpReceiver({
      onRcptTo: ({ address }, _session, done) =>
        done(address.startsWith('finance') ? smtpReply(451, 'greylisted') : smtpReply(550, 'no such user')),
    });
    expect((await sendTo(receiver)).delivery).toEqual({
      kind: 'retry',
      certainty: 'refused',
      afterMs: 300_000,
      reason: 'the mail server answered 451 greylisted',
      refused: {
        recipients: ['ops@example.com'],
        others: ['finance@example.com'],
        refusal: 'the mail server answered 550 no such user',
      },
    });
  });

  it.each(['250 taken', '554 5.5.1 no valid recipients'])(
    'of all, by a server that asks for the message all the same, goes by their replies: %s',
    async (MESSAGE) => {
      const EHLO = '250-test\r\n250 PIPELINING';
      const receiver = await startScriptedSmtp(politeSmtp({ EHLO, RCPT: '451 4.7.1 greylisted', MESSAGE }));
      const { delivery } = await sendTo(receiver);
      const reason = 'the mail server answered 451 4.7.1 greylisted';
      expect(delivery).toEqual({ kind: 'retry', certainty: 'refused', afterMs: 300_000, reason });
    },
  );

  it('by a server that is busy is tried again', async () => {
    const { delivery } = await sendTo(await startScriptedSmtp(politeSmtp({ CONNECT: '421 too busy' })));
    expect(delivery).toMatchObject({ kind: 'retry', certainty: 'refused' });
  });

  it('for its size after it was read is dead', async () => {
    const receiver = await startSmtpReceiver({
      onData: (stream, _session, done) => {
        stream.resume();
        stream.on('end', () => done(smtpReply(552, 'mailbox full')));
      },
    });
    expect((await sendTo(receiver)).delivery).toEqual({
      kind: 'dead',
      reason: 'the mail server answered 552 mailbox full',
    });
  });

  it('for now after it was read is surely not taken', async () => {
    const { delivery } = await sendTo(await startScriptedSmtp(politeSmtp({ MESSAGE: '452 disk full' })));
    expect(delivery).toMatchObject({ kind: 'retry', certainty: 'refused' });
  });

  it('by a server that takes no passwords says so, and does not blame the password', async () => {
    const polite = politeSmtp({ EHLO: '250-test\r\n250 AUTH XOAUTH2', AUTH: '504 5.7.4 Unrecognized type' });
    const receiver = await startScriptedSmtp(polite);
    const smtpUrl = new Secret(`smtp://me:password@127.0.0.1:${receiver.port}`);
    const reason =
      'the mail server answered 504 5.7.4 Unrecognized type: it offers no way to log in that fits the settings';
    expect((await sendTo(receiver, { smtpUrl })).delivery).toEqual({ kind: 'dead', reason });
  });

  it('by a server that wants another password is tried once, not again without charts', async () => {
    const polite = politeSmtp({ EHLO: '250-test\r\n250 AUTH PLAIN', AUTH: '534 5.7.9 Application-specific' });
    const commands: string[] = [];
    const receiver = await startScriptedSmtp((command, socket) => {
      commands.push(command);
      return polite(command, socket);
    });
    const smtpUrl = new Secret(`smtp://me:password@127.0.0.1:${receiver.port}`);
    expect((await sendTo(receiver, { smtpUrl })).delivery).toMatchObject({ kind: 'dead' });
    expect(commands.filter((command) => command.startsWith('AUTH'))).toHaveLength(1);
  });

  it('because there is no password for the user is dead, and says so', async () => {
    const receiver = await startScriptedSmtp(politeSmtp({ EHLO: '250-test\r\n250 AUTH PLAIN LOGIN' }));
    const smtpUrl = new Secret(`smtp://me@127.0.0.1:${receiver.port}`);
    const reason = 'the mail server asks for a login, and "smtpUrl" has a user without a password';
    expect((await sendTo(receiver, { smtpUrl })).delivery).toEqual({ kind: 'dead', reason });
  });

  it('with a wrong password is dead, with a hint and without the password', async () => {
    const receiver = await startSmtpReceiver({
      authOptional: false,
      allowInsecureAuth: true,
      onAuth: (_auth, _session, done) => done(smtpReply(535, 'authentication failed')),
    });
    const url = `smtp://me:${encodeURIComponent(password)}@127.0.0.1:${receiver.port}`;
    const { delivery } = await sendTo(receiver, { smtpUrl: new Secret(url) });
    expect(delivery).toMatchObject({
      kind: 'dead',
      reason: expect.stringContaining('Check user and password'),
    });
    expect(JSON.stringify(delivery)).not.toContain('secret');
  });

  it.each([
    ['as it is', (text: string) => `no such password: ${text}`, 'no such password: [secret]'],
    [
      'percent-encoded',
      (text: string) => `cannot log in with <${encodeURIComponent(text)}>`,
      'cannot log in with <[secret]>',
    ],
    [
      'in base64',
      (text: string) => `bad AUTH PLAIN ${Buffer.from(`\0me\0${text}`).toString('base64')}, try again`,
      '[secret]',
    ],
  ])('with a reply that repeats the password %s is reported without it', async (_how, reply, notified) => {
    const receiver = await startSmtpReceiver({
      authOptional: false,
      allowInsecureAuth: true,
      onAuth: (_auth, _session, done) => done(smtpReply(535, reply(password))),
    });
    const url = `smtp://me:${encodeURIComponent(password)}@127.0.0.1:${receiver.port}`;
    const { delivery } = await sendTo(receiver, { smtpUrl: new Secret(url) });
    expect(delivery).toEqual({
      kind: 'dead',
      reason: `the mail server answered 535 ${notified}: the login is refused. Check user and password of "smtpUrl"`,
    });
  });
});

describe('encryption', () => {
  it('is required by a server that is not this host: without it neither mail nor password leave', async () => {
    const commands: string[] = [];
    const polite = politeSmtp({});
    const receiver = await startScriptedSmtp((command, socket) => {
      commands.push(command);
      return polite(command, socket);
    });
    // A name that resolves to loopback, but that lowwater cannot know to be this host.
    const url = `smtp://me:${encodeURIComponent(password)}@0.0.0.0:${receiver.port}`;
    const { delivery } = await sendTo(receiver, { smtpUrl: new Secret(url) });
    expect(delivery).toMatchObject({ kind: 'dead', reason: expect.stringContaining('STARTTLS') });
    expect(commands.join(' ')).not.toMatch(/AUTH|MAIL|DATA/);
  });

  it('is offered by no server that refuses EHLO, and the reason says so', async () => {
    const receiver = await startScriptedSmtp(politeSmtp({ EHLO: '502 5.5.1 what', HELO: '250 test' }));
    const smtpUrl = new Secret(`smtp://0.0.0.0:${receiver.port}`);
    const reason = expect.stringContaining('502 5.5.1 what: it offers no encryption (STARTTLS)');
    expect((await sendTo(receiver, { smtpUrl })).delivery).toEqual({ kind: 'dead', reason });
    const clear = await sendTo(receiver, { smtpUrl, allowInsecure: true });
    expect(clear.delivery).toMatchObject({ kind: 'delivered' });
  });

  it('is no matter where EHLO is refused to who says it', async () => {
    const receiver = await startScriptedSmtp(politeSmtp({ EHLO: '550 5.7.1 your name is blocked' }));
    const smtpUrl = new Secret(`smtp://0.0.0.0:${receiver.port}`);
    const reason = 'the mail server answered 550 5.7.1 your name is blocked';
    expect((await sendTo(receiver, { smtpUrl })).delivery).toEqual({ kind: 'dead', reason });
  });

  it('may be missing where the configuration allows it', async () => {
    const receiver = await startSmtpReceiver();
    const { delivery } = await sendTo(receiver, {
      smtpUrl: new Secret(`smtp://0.0.0.0:${receiver.port}`),
      allowInsecure: true,
    });
    expect(delivery).toMatchObject({ kind: 'delivered' });
  });

  it('is used where it is offered, on this host even with a certificate of its own', async () => {
    const secured: boolean[] = [];
    const receiver = await startSmtpReceiver({
      disabledCommands: [],
      onMailFrom: (_address, session, done) => {
        secured.push(session.secure);
        done();
      },
    });
    expect((await sendTo(receiver)).delivery).toMatchObject({ kind: 'delivered' });
    expect(secured).toEqual([true]);
  });

  it('as old as the relay carries mail where clear text may, and nowhere else', async () => {
    const old = { minVersion: 'TLSv1', maxVersion: 'TLSv1', ciphers: 'DEFAULT@SECLEVEL=0' } as const;
    const receiver = await startSmtpReceiver({ disabledCommands: [], ...old });
    const smtpUrl = new Secret(`smtp://0.0.0.0:${receiver.port}`);
    const { delivery } = await sendTo(receiver, { smtpUrl, allowInsecure: true });
    expect(delivery).toMatchObject({ kind: 'delivered' });
    expect(await sendBy(channelTo({ smtpUrl }))).toEqual({
      kind: 'retry',
      certainty: 'refused',
      reason: 'TLS: the handshake failed (ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION)',
    });
  });

  it('with a certificate that nobody vouches for carries no mail to another host', async () => {
    const receiver = await startSmtpReceiver({ disabledCommands: [] });
    const { delivery } = await sendTo(receiver, { smtpUrl: new Secret(`smtp://0.0.0.0:${receiver.port}`) });
    expect(delivery).toMatchObject({
      kind: 'retry',
      certainty: 'refused',
      reason: expect.stringContaining('certificate'),
    });
    expect(receiver.received).toHaveLength(0);
  });

  it('from the first byte is checked too', async () => {
    const receiver = await startSmtpReceiver({ secure: true });
    const { delivery } = await sendTo(receiver, {
      smtpUrl: new Secret(`smtps://127.0.0.1:${receiver.port}`),
    });
    expect(delivery).toMatchObject({
      kind: 'retry',
      certainty: 'refused',
      reason: expect.stringContaining('certificate'),
    });
  });
});

describe.concurrent('a mail server that breaks off', () => {
  it('after the final dot leaves it unknown whether it took the message', async () => {
    const { delivery, receiver } = await sendTo(await startScriptedSmtp(politeSmtp({ MESSAGE: 'DROP' })));
    expect(delivery).toMatchObject({ kind: 'retry', certainty: 'unknown' });
    expect(receiver.received).toHaveLength(1);
  });

  it.each(['MAIL', 'RCPT', 'DATA', 'EHLO', 'CONNECT'])('at %s has surely not taken it', async (command) => {
    const { delivery } = await sendTo(await startScriptedSmtp(politeSmtp({ [command]: 'DROP' })));
    expect(delivery).toMatchObject({ kind: 'retry', certainty: 'refused' });
  });

  it('by hanging before the message ends with the deadline, refused', async () => {
    const started = performance.now();
    const { delivery } = await sendTo(await startScriptedSmtp(politeSmtp({ MAIL: null })), {}, 300);
    expect(delivery).toEqual({
      kind: 'retry',
      certainty: 'refused',
      reason: 'the mail server did not answer in time',
    });
    expect(performance.now() - started).toBeLessThan(4500);
  });

  it('by hanging after the message ends with the deadline, unknown', async () => {
    const { delivery } = await sendTo(await startScriptedSmtp(politeSmtp({ MESSAGE: null })), {}, 2000);
    expect(delivery).toEqual({
      kind: 'retry',
      certainty: 'unknown',
      reason: 'the mail server did not confirm the message in time',
    });
  });

  it('by never greeting ends with the deadline', async () => {
    const { delivery } = await sendTo(await startScriptedSmtp(politeSmtp({ CONNECT: null })), {}, 300);
    expect(delivery).toMatchObject({ kind: 'retry', certainty: 'refused' });
  });
});

/** A minute passes in 300 ms, but nothing is over in less than 1.5 s. */
const fastMinutes: Clock = {
  ...systemClock,
  setTimer: (delayMs, fire) => systemClock.setTimer(Math.max(1500, delayMs / 200), fire),
};

/** A polite server that waits before it answers commands of this kind. */
async function startSlowSmtp(word: string, waitMs: number) {
  const polite = politeSmtp({});
  const receiver = await startScriptedSmtp((command, socket) => {
    const line = polite(command, socket);
    if (!command.startsWith(word)) return line;
    setTimeout(() => socket.write(`${line}\r\n`), waitMs);
    return null;
  });
  open.push(receiver);
  return receiver;
}

describe.concurrent('a slow mail server', () => {
  it.each([
    ['CONNECT', 300, 'delivered'],
    ['MAIL', 300, 'delivered'],
    ['MAIL', 2500, 'retry'],
    ['MESSAGE', 1900, 'delivered'],
    ['MESSAGE', 4500, 'retry'],
  ])('has the minutes of RFC 5321: %s after %d ms', async (word, waitMs, kind) => {
    const receiver = await startSlowSmtp(word, waitMs);
    const channel = channelTo({ smtpUrl: new Secret(`smtp://127.0.0.1:${receiver.port}`) }, fastMinutes);
    expect(await sendBy(channel)).toMatchObject({ kind });
  });

  it('may take its time for each of many recipients', async () => {
    const receiver = await startSlowSmtp('RCPT', 50);
    const to = Array.from({ length: 40 }, (_, index) => ({ name: '', address: `r${index}@example.com` }));
    const smtpUrl = new Secret(`smtp://127.0.0.1:${receiver.port}`);
    expect(await sendBy(channelTo({ smtpUrl, to }, fastMinutes))).toMatchObject({ kind: 'delivered' });
    expect(receiver.received).toHaveLength(1);
  });
});

describe('the reply at the final dot', () => {
  it('decides: a mail that is refused for its content is not sent again', async () => {
    const { delivery, receiver } = await sendTo(
      await startScriptedSmtp(politeSmtp({ MESSAGE: '554 5.7.1 looks like spam' })),
    );
    expect(delivery).toEqual({ kind: 'dead', reason: 'the mail server answered 554 5.7.1 looks like spam' });
    expect(receiver.received).toHaveLength(1);
  });

  it.each(['534 message exceeds the limit', '554 5.3.4 no', '550 message is too big'])(
    'may say that the mail is too large: %s',
    async (reply) => {
      const { receiver } = await sendTo(await startScriptedSmtp(politeSmtp({ MESSAGE: reply })));
      expect(receiver.received).toHaveLength(2);
    },
  );

  it('is quoted with its code once where it has several lines', async () => {
    const reply = '550-5.7.26 This mail has been blocked\r\n550-5.7.26 because of its\r\n550 5.7.26 sender.';
    const { delivery } = await sendTo(await startScriptedSmtp(politeSmtp({ MESSAGE: reply })));
    const reason = 'the mail server answered 550 5.7.26 This mail has been blocked because of its sender.';
    expect(delivery).toEqual({ kind: 'dead', reason });
  });

  it.each([
    ['MESSAGE', 'okay dear', 'unknown', 1],
    ['MAIL', 'hello there', 'refused', 0],
    ['CONNECT', 'HTTP/1.1 400 Bad Request', 'refused', 0],
  ])(
    'at %s without a code says nothing: the mail is tried again, and three times at most where it may have been taken',
    async (word, reply, certainty, copies) => {
      const { delivery, receiver } = await sendTo(await startScriptedSmtp(politeSmtp({ [word]: reply })));
      const reason = `the answer is not that of a mail server: ${reply}`;
      expect(delivery).toEqual({ kind: 'retry', certainty, reason, ...(copies > 0 && { tries: 3 }) });
      expect(receiver.received).toHaveLength(copies);
    },
  );

  it('is none where it comes before the message', async () => {
    const { delivery } = await sendTo(
      await startScriptedSmtp(politeSmtp({ DATA: '354 go on\r\n250 stray', MESSAGE: '554 refused' })),
    );
    expect(delivery).toMatchObject({ kind: 'retry', certainty: 'refused', tries: 3 });
  });

  it('is no refusal for good where a stray one put the replies out of step', async () => {
    const { delivery } = await sendTo(
      await startScriptedSmtp(politeSmtp({ DATA: '250 stray\r\n354 go on' })),
    );
    expect(delivery).toMatchObject({
      kind: 'retry',
      certainty: 'unknown',
      tries: 3,
      reason: 'the mail server answered 354 go on',
    });
  });
});

describe('a mail server that is not there', () => {
  it('refuses the connection', async () => {
    const receiver = await startSmtpReceiver();
    await receiver.close();
    const delivery = await sendBy(channelTo({ smtpUrl: new Secret(`smtp://127.0.0.1:${receiver.port}`) }));
    expect(delivery).toEqual({
      kind: 'retry',
      certainty: 'refused',
      reason: 'the connection was refused',
    });
  });

  it('has an unknown name', async () => {
    const delivery = await sendBy(channelTo({ smtpUrl: new Secret('smtp://no-such-host.invalid:25') }));
    expect(delivery).toMatchObject({ kind: 'retry', certainty: 'refused' });
  });
});

it('a message that is not about money goes out without a picture', async () => {
  const { receiver } = await sendTo(await startSmtpReceiver(), {}, 5000, buildTestMessage());
  expect((await parse(receiver)).attachments).toEqual([]);
});

it('a name cannot add recipients or headers', async () => {
  const accountName = 'OTP\r\nBcc: everyone@example.com\r\n\r\nbody';
  const { receiver } = await sendTo(
    await startSmtpReceiver(),
    {},
    5000,
    buildMessage([buildItem({ accountName })]),
  );
  const mail = await parse(receiver);
  expect(receiver.recipients).toEqual([['ops@example.com', 'finance@example.com']]);
  expect(mail.headers.has('bcc')).toBe(false);
});

function oauth2At(accessUrl: string): EmailSettings['oauth2'] {
  return {
    user: 'me@example.com',
    clientId: 'id',
    clientSecret: new Secret('very-secret'),
    refreshToken: new Secret('very-secret'),
    accessUrl,
  };
}

async function sendTo(
  receiver: SmtpReceiver,
  over: Partial<EmailSettings> = {},
  timeoutMs = 5000,
  message: Message = buildMessage(),
): Promise<{ readonly delivery: Delivery; readonly receiver: SmtpReceiver; readonly channel: Sender }> {
  open.push(receiver);
  const channel = channelTo(
    { smtpUrl: new Secret(`smtp://127.0.0.1:${receiver.port}`), ...over },
    noStepLongerThan(timeoutMs),
  );
  return { delivery: await sendBy(channel, message), receiver, channel };
}

/** What a server may take is minutes: here no step takes longer than this. */
function noStepLongerThan(limitMs: number): Clock {
  return {
    ...systemClock,
    setTimer: (delayMs, fire) => systemClock.setTimer(Math.min(delayMs, limitMs), fire),
  };
}

function channelTo(over: Partial<EmailSettings>, clock = noStepLongerThan(5000)): Sender {
  const settings: EmailSettings = {
    type: 'email',
    name: 'finance',
    place: new Secret('finance'),
    smtpUrl: new Secret('smtp://127.0.0.1:9'),
    from: { name: 'Lowwater', address: 'lowwater@example.com' },
    to: [
      { name: '', address: 'ops@example.com' },
      { name: 'Finance', address: 'finance@example.com' },
    ],
    allowInsecure: false,
    oauth2: null,
    ...over,
  };
  return openEmailSender({ settings, clock, texts: textsAround(settings) });
}

function sendBy(channel: Sender, message: Message = buildMessage()): Promise<Delivery> {
  return channel.send(message, new AbortController().signal);
}

async function parse(receiver: SmtpReceiver): Promise<ParsedMail> {
  const [raw] = receiver.received;
  if (raw === undefined) throw new Error('No mail arrived.');
  return simpleParser(raw);
}
