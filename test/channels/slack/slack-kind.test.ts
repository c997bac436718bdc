import { describe, expect, it } from 'vitest';
import { buildSlack, slackSchema } from '../../../src/channels/slack/slack-kind.ts';

const webhookUrl = 'https://hooks.slack.com/services/T/B/key';
const bot = { botToken: 'xoxb-1', channel: '#alerts' };

function problems(keys: object): readonly string[] {
  const read = slackSchema.safeParse({ type: 'slack', ...keys });
  return read.success ? [] : read.error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`);
}

describe('a Slack channel', () => {
  it.each([
    ['a webhook', { webhookUrl }],
    ['a webhook of something like Slack', { webhookUrl, accept: { path: 'ok', equals: true } }],
    ['a bot and a name', bot],
    ['a bot and an id', { ...bot, channel: 'C012AB3CD' }],
    ['a bot in GovSlack', { ...bot, apiUrl: 'https://slack-gov.com/api' }],
  ])('goes by %s', (_, keys) => {
    expect(problems(keys)).toEqual([]);
  });

  it.each([
    ['neither', {}, /^webhookUrl: required: "webhookUrl".* or "botToken" and "channel"/],
    ['both', { webhookUrl, ...bot }, /^botToken: not with "webhookUrl"/],
    ['a bot without a channel', { botToken: 'xoxb-1' }, /^channel: required with "botToken"/],
    ['a channel without a bot', { channel: '#alerts' }, /^botToken: required with "channel"/],
    ['a channel of two words', { ...bot, channel: 'our alerts' }, /^channel: must be a name/],
    [
      'what a good answer is, of a bot',
      { ...bot, accept: { path: 'ok', equals: true } },
      /^accept: only with/,
    ],
    [
      'a token over http',
      { ...bot, apiUrl: 'http://slack.example.com/api' },
      /^apiUrl: must begin with https/,
    ],
  ])('is refused with %s', (_, keys, expected) => {
    expect(problems(keys)[0]).toMatch(expected);
  });

  it('is the same under another name where it posts as the same bot to the same channel', () => {
    const place = (over: object) =>
      buildSlack('any', slackSchema.parse({ type: 'slack', ...bot, ...over })).place.reveal();
    expect(place({})).toBe(place({}));
    expect(place({})).not.toBe(place({ channel: '#other' }));
  });
});
