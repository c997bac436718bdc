import { writeFileSync } from 'node:fs';
import { beforeAll, expect, it } from 'vitest';
import { loadLanguage } from '../../../src/languages/load-language.ts';
import { startDemoWorld } from '../../support/demo-world.ts';
import { serveWorld } from '../../support/web-server.ts';

beforeAll(async () => {
  await Promise.all([loadLanguage('zh-CN'), loadLanguage('es')]);
});

const paths = [
  '/',
  '/?q=zzz',
  '/alerts',
  '/alerts?state=past',
  '/messages',
  '/pay',
  '/review',
  '/silences',
  '/audit',
  '/sessions',
  '/time-zone',
  '/accounts/otp',
  '/accounts/marketing-eu',
  '/accounts/batch',
  '/accounts/billing',
  '/accounts/voice-alerts',
  '/accounts/new-account',
  '/accounts/otp/try/sms-low',
  '/sign-in',
  '/nowhere',
  '/accounts/none',
];

it('lists', async () => {
  const { url } = await serveWorld(await startDemoWorld());
  const out: string[] = [];
  for (const path of paths) {
    const text = await (
      await fetch(url + path, { headers: { 'accept-language': 'zh-CN', accept: 'text/html' } })
    ).text();
    writeFileSync(`/tmp/lang/${path.replaceAll(/\W/g, '_')}.html`, text);
    const texts = text
      .replace(/<style[\s\S]*?<\/style>/g, '')
      .replace(/<code>[^<]*<\/code>|<bdi>[^<]*<\/bdi>/g, ' ')
      .replaceAll(/ (?:aria-label|title|placeholder|alt|data-label)="([^"]*)"/g, '>\n$1\n<')
      .split(/<[^>]*>/);
    const found = new Set(
      texts.filter((t) => /[A-Za-z]{2,}['’]? [a-z]{2,}/.test(t)).map((t) => t.trim().slice(0, 200)),
    );
    const singles = new Set(
      texts.filter((t) => /^\s*[A-Z][a-z]{2,}\W*$/.test(t)).map((t) => t.trim().slice(0, 200)),
    );
    out.push(`== ${path}`, ...found, `-- ${[...singles].join(' | ')}`);
  }
  writeFileSync('/tmp/lang/found.txt', out.join('\n'));
  expect(1).toBe(1);
});
