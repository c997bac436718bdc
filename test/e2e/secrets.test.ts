import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { startMailSink } from '../support/mail-sink.ts';
import { withBed } from '../support/run-daemon.ts';
import { accepted, slackPath } from '../support/slack-sink.ts';

const secrets = {
  authSecret: 'k3y+With/Odd=chars"and<angles>&more',
  slackWebhook: slackPath.slice('/services/'.length),
  webhookPath: 'hook-p4th-0123456789',
  webhookKey: 'c2lnbmluZy1rZXktb2YtdGhlLXdlYmhvb2stY2hhbm5lbA==',
  smtpPassword: 'sm+p p@ss/word',
  token: 'b3arer-t0ken-of-the-page-and-api',
  heartbeat: 'h3artbeat-check-uuid-4711',
};

/** A secret as it is, as JSON, HTML, URL and base64 (at each of the three places where it may begin) would write it. */
function formsOf(secret: string): readonly string[] {
  const encoded = ['', 'x', 'xy'].map((before) => {
    const base64 = Buffer.from(before + secret).toString('base64');
    // The first and last letters also hold bits of the neighbours.
    return base64.slice(before === '' ? 0 : 4, -4);
  });
  const html = secret
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;');
  return [
    secret,
    JSON.stringify(secret).slice(1, -1),
    html,
    encodeURIComponent(secret),
    encodeURI(secret),
    new URLSearchParams({ k: secret }).toString().slice(2),
    Buffer.from(secret).toString('hex'),
    ...encoded,
    ...encoded.map((text) => text.replaceAll('+', '-').replaceAll('/', '_')),
  ];
}

const paths = [
  '/',
  '/?all=1',
  '/accounts/otp',
  '/accounts/otp?range=7d',
  '/silences',
  '/messages',
  '/sign-in',
  '/ack',
  '/livez',
  '/readyz?verbose',
  '/metrics',
  '/no-such-page',
  '/api/v1/accounts',
  '/api/v1/accounts/otp',
  '/api/v1/accounts/otp/history',
  '/api/v1/accounts/otp/polls',
  '/api/v1/accounts/otp/explain',
  '/api/v1/accounts/otp/chart',
  '/api/v1/alerts?all=true',
  '/api/v1/incidents',
  '/api/v1/notifications',
  '/api/v1/channels',
  '/api/v1/silences',
  '/api/v1/openapi.json',
  '/api/v1/no-such-thing',
];

const commands: readonly (readonly string[])[] = [
  ['validate'],
  ['status', '--json'],
  ['check'],
  ['explain', 'otp'],
  ['test-channel', 'finance'],
  ['test-channel', 'hook', '--json'],
  ['report', 'weekly', '--print'],
];

it('no secret shows anywhere: output, database, HTTP answers, messages; neither plain nor encoded', () =>
  withBed(
    { scenario: { accounts: [{ id: 'otp', authSecret: secrets.authSecret, sms: '1000' }] } },
    async (bed) => {
      let login = 'refused';
      const smtp = await startMailSink({
        authOptional: false,
        allowInsecureAuth: true,
        onAuth: (_auth, _session, done) =>
          login === 'refused' ? done(new Error('535 no')) : done(null, { user: 'ops' }),
      });
      const password = encodeURIComponent(secrets.smtpPassword);
      bed.configure({
        channels: {
          ops: { type: 'slack', webhookUrl: bed.slack.url },
          hook: {
            type: 'webhook',
            url: `${bed.slack.origin}/${secrets.webhookPath}`,
            secret: `whsec_${secrets.webhookKey}`,
          },
          finance: {
            type: 'email',
            smtpUrl: `smtp://ops:${password}@127.0.0.1:${smtp.port}`,
            from: 'lowwater@example.com',
            to: ['finance@example.com'],
          },
          gone: { type: 'slack', webhookUrl: `http://127.0.0.1:9/services/${secrets.slackWebhook}` },
        },
        routes: [{ channels: ['ops', 'hook', 'finance', 'gone'], groupWait: '0s' }],
        reports: [{ id: 'weekly', cron: '0 9 * * 1', channels: ['finance'] }],
        server: { port: 0, token: secrets.token, publicUrl: 'https://lowwater.example.com' },
        heartbeat: { url: `${bed.slack.origin}/ping/${secrets.heartbeat}`, every: '1s' },
        log: { level: 'trace' },
      });
      const { control } = bed.provider;
      // A provider that says back what it was sent, in every place that is kept.
      const echo = { msg: `your key ${secrets.authSecret} is wrong`, code: -1 };
      const headers = {
        'x-ratelimit-key': encodeURIComponent(secrets.authSecret),
        'x-quota-of': secrets.authSecret,
      };
      bed.slack.behave(({ path }) =>
        path.includes('/ping/')
          ? { status: 500 }
          : path.includes(secrets.webhookPath)
            ? { status: 500, body: path }
            : accepted,
      );
      const printed: string[] = [];
      try {
        const daemon = await bed.start();
        await eventually('a reading', () => control.requests() > 0);
        control.setBalance('otp', 'sms', '-5');
        await eventually('alerts', () => bed.slack.accepted().length > 0);
        control.fail({ kind: 'body', status: 200, body: JSON.stringify(echo), headers });
        const before = control.requests();
        await eventually('the provider echoes', () => control.requests() > before + 1);
        login = 'accepted';
        const auth = { authorization: `Bearer ${secrets.token}` };
        for (const path of paths) {
          const response = await fetch(`${daemon.url}${path}`, { headers: auth });
          printed.push(`${path}\n${[...response.headers].join('\n')}\n${await response.text()}`);
        }
        for (const options of [{}, { headers: { authorization: 'Bearer wrong' } }]) {
          const refused = await fetch(`${daemon.url}/api/v1/accounts`, options);
          expect(refused.status).toBe(401);
          printed.push(await refused.text());
        }
        const ended = await Promise.all(commands.map((words) => bed.command(...words)));
        for (const [index, { code, stdout, stderr }] of ended.entries()) {
          expect(code, `${commands[index]?.join(' ')}: ${stderr}`).toBeLessThan(4);
          printed.push(stdout, stderr);
        }
        daemon.child.kill('SIGHUP');
        await eventually('a mail', () => smtp.count() > 0);
        const { stdout, stderr } = await daemon.stop();
        printed.push(stdout, stderr);
      } finally {
        await smtp.close();
      }
      const files = readdirSync(bed.folder).filter((name) => name !== 'config.json');
      expect(files).toContain('lowwater.db');
      for (const name of files) printed.push(readFileSync(join(bed.folder, name), 'latin1'));
      printed.push(...bed.slack.posts.map(({ body }) => body));
      printed.push(...(await smtp.mails()).flatMap(({ raw, text }) => [raw, text]));

      const found = Object.entries(secrets).flatMap(([name, secret]) =>
        formsOf(secret).flatMap((form) =>
          printed
            .filter((text) => text.includes(form))
            .map(
              (text) =>
                `${name} as ${form}: ${text.slice(Math.max(0, text.indexOf(form) - 150), text.indexOf(form) + 80)}`,
            ),
        ),
      );
      expect(found).toEqual([]);
      expect(bed.slack.posts.length).toBeGreaterThan(3);
    },
  ));
