import { describe, expect, it } from 'vitest';
import { templateSchema } from '../../../src/channels/webhook/template-schema.ts';
import { fillTemplate } from '../../../src/channels/webhook/webhook-sender.ts';
import { loadLanguage } from '../../../src/languages/load-language.ts';
import { json, sendThrough } from '../../support/channel-bed.ts';
import { hostileNames } from '../../support/hostile-text.ts';
import { buildItem, buildMessage, buildTestMessage, everyMessage } from '../../support/messages.ts';

const ntfy = { topic: 'ops', title: '{{title}}', message: '{{ text }}', priority: 4, click: '{{pageUrl}}' };

describe('a template', () => {
  it('is filled with the most urgent alert, and what is no text stays as it is', () => {
    const body = JSON.parse(fillTemplate(ntfy, buildMessage()));
    expect(body).toMatchObject({
      topic: 'ops',
      title: 'CRITICAL · OTP production: pay 1,400 CNY, empty about Sat 23:44',
      priority: 4,
      click: 'https://lowwater.example.com/accounts/otp',
    });
    expect(body.message).toContain('Top up 1,400.00 CNY');
  });

  it.each(Object.entries(hostileNames))(
    'stays whole JSON, without half a surrogate pair, with the name %s',
    (_name, accountName) => {
      const message = buildMessage([buildItem({ accountName })]);
      const filled = JSON.parse(fillTemplate({ a: '{{account.name}}', b: 1 }, message));
      expect(filled).toEqual({ a: accountName.toWellFormed(), b: 1 });
    },
  );

  it.each(Object.entries(everyMessage()))('is filled for every message: %s', (_name, message) => {
    expect(fillTemplate(ntfy, message)).not.toMatch(/\{\{|undefined|\[object/);
  });

  it('joins the sentences of the advice as their language does', async () => {
    await loadLanguage('zh-CN');
    const message = { ...(everyMessage().surge ?? buildMessage()), language: 'zh-CN' };
    expect(fillTemplate('{{advice}}', message)).toMatch(/。充值 1,400\.00 CNY/);
  });

  it('leaves empty what is not known', () => {
    expect(fillTemplate('{{account.name}}|{{labels.none}}|{{labels.__proto__}}', buildTestMessage())).toBe(
      '"||"',
    );
  });

  it('with a field that nobody knows is refused at its place, with the nearest that there is', () => {
    const { error } = templateSchema.safeParse({
      a: ['ok', '{{acount.name}}'],
      b: '{{labels.any}}',
      c: '{{}}',
    });
    expect(error?.issues).toMatchObject([
      { path: ['a', 1], message: expect.stringContaining('did you mean {{account.name}}?') },
      { path: ['c'], message: expect.stringMatching(/pageUrl, balance\.<id> and labels\.<name>$/) },
    ]);
  });
});

describe('a webhook with a body of its own', () => {
  const config = (origin: string) => ({
    type: 'webhook',
    url: `${origin}/message`,
    headers: { Authorization: 'Bearer very-secret-token', 'Content-Type': 'application/vnd.example+json' },
    template: { text: '{{title}}' },
    accept: { path: 'errcode', equals: 0 },
  });

  it('sends its headers and takes for a yes what its receiver calls one', async () => {
    const { delivery, posts } = await sendThrough({
      config,
      answer: (response) => json(response, { errcode: 0 }),
    });
    expect(delivery).toMatchObject({ kind: 'delivered' });
    expect(posts[0]?.headers).toMatchObject({
      authorization: 'Bearer very-secret-token',
      'content-type': 'application/vnd.example+json',
    });
    expect(JSON.parse(posts[0]?.body ?? '')).toEqual({ text: expect.stringContaining('CRITICAL') });
  });

  it('counts a 200 that says something else as refused', async () => {
    const { delivery } = await sendThrough({
      config,
      answer: (response) => json(response, { errcode: 310_000 }),
    });
    expect(delivery).toMatchObject({ kind: 'retry', certainty: 'refused', tries: 3 });
  });
});
