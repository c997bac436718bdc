import { globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { classifyAnswer } from '../../src/channels/answers.ts';
import { presetSchema } from '../../src/channels/presets/preset.ts';
import { answersSchema, receiverSchema } from '../../src/channels/receiver.ts';
import { channelKinds, channelSchema, kindOf } from '../../src/channels/registry.ts';
import { slackAnswers } from '../../src/channels/slack/slack-answers.ts';
import { createForeignTexts } from '../../src/domain/foreign-text.ts';
import { exampleChannels } from '../support/example-channels.ts';
import { packagesBehind } from '../support/packages-behind.ts';
import { channelOf } from '../support/settings.ts';

const registry = join(import.meta.dirname, '../../src/channels/registry.ts');

describe('the registry of channel kinds', () => {
  it('knows each kind by its type', () => {
    for (const kind of channelKinds) expect(kindOf(kind)).toBe(kind);
    expect(() => kindOf({ type: 'pigeon' })).toThrow('pigeon');
    expect(channelSchema.safeParse({ type: 'pigeon' }).error?.issues[0]?.message).toContain(
      'must be "slack"',
    );
  });

  it('loads no package that sends: checking a configuration costs none of them', () => {
    expect([...packagesBehind(registry)].toSorted()).toEqual(['zod']);
  });

  it.each(globSync('*/*.json', { cwd: dirname(registry) }).toSorted())(
    'reads %s without a check at each start: it holds what its schema says',
    (path) => {
      const data = JSON.parse(readFileSync(join(dirname(registry), path), 'utf8'));
      const own = path.endsWith('answers.json') ? answersSchema : receiverSchema;
      const schema = path.startsWith('presets/') ? presetSchema : own;
      expect(schema.safeParse(data).error?.issues).toBeUndefined();
    },
  );

  it.each(channelKinds)('has a source for every answer of $type', ({ answers }) => {
    expect(answers.length).toBeGreaterThan(3);
    for (const { source } of answers) expect(source).not.toBe('');
  });

  it('takes a table with a hole for the defect that it is', () => {
    const answer = { status: 200, headers: {}, body: '' };
    expect(() =>
      classifyAnswer({ ...slackAnswers(null), rows: [] }, answer, { now: 0, texts: createForeignTexts([]) }),
    ).toThrow('hole');
  });
});

it.each(exampleChannels().filter(({ type }) => type !== 'email'))(
  'a receiver of type $type that asked to wait is the same under another name',
  (settings) => {
    const key = (each: typeof settings) => kindOf(each).pace(each).paceKey;
    expect(key({ ...settings, name: 'other' })).toBe(key(settings));
    expect(key(settings)).toEqual(expect.any(String));
  },
);

it('a webhook with other credentials at the same address is another receiver: it need not wait where that one was asked to', () => {
  const keyOf = (token: string) => {
    const config = { type: 'webhook', url: 'https://gate.example/send', headers: { Authorization: token } };
    const settings = channelOf('ops', config);
    return kindOf(settings).pace(settings).paceKey;
  };
  expect(keyOf('Bearer one')).toBe(keyOf('Bearer one'));
  expect(keyOf('Bearer one')).not.toBe(keyOf('Bearer two'));
});
