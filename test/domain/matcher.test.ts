import { expect, test } from 'vitest';
import { matchSubject } from '../../src/domain/alert.ts';
import {
  type Matcher,
  matches,
  matchesEverything,
  mayMatchAlertsOf,
  wordMatcher,
} from '../../src/domain/rule.ts';
import { incident } from '../support/incidents.ts';

const subject = {
  account: 'otp',
  rules: ['sms-low'],
  severity: 'critical',
  labels: { team: 'identity', region: 'eu' },
  provider: 'twilio',
  currency: 'rmb',
} as const;

test.each<[string, Matcher, boolean]>([
  ['no key at all', {}, true],
  ['its account', { account: ['otp'] }, true],
  ['one of several accounts', { account: ['marketing', 'otp'] }, true],
  ['another account', { account: ['marketing'] }, false],
  ['its rule', { rule: ['sms-low'] }, true],
  ['another rule', { rule: ['stale'] }, false],
  ['its severity', { severity: ['warning', 'critical'] }, true],
  ['another severity', { severity: ['warning'] }, false],
  ['a label', { labels: { team: ['identity'] } }, true],
  ['a label with another value', { labels: { team: ['growth'] } }, false],
  ['a label that it does not have', { labels: { tier: ['1'] } }, false],
  ['a name that every object inherits', { labels: { constructor: ['x'] } }, false],
  ['several labels that all hold', { labels: { team: ['identity'], region: ['us', 'eu'] } }, true],
  ['several labels of which one does not hold', { labels: { team: ['identity'], region: ['us'] } }, false],
  ['keys of which one does not hold', { account: ['otp'], severity: ['info'] }, false],
  ['an empty list', { account: [] }, false],
  ['its provider', { provider: ['vonage', 'twilio'] }, true],
  ['another provider', { provider: ['vonage'] }, false],
  ['its currency by another name', { currency: ['CNY'] }, true],
  ['another currency', { currency: ['EUR'] }, false],
  ['what another team has as left out', { not: { labels: { team: ['growth'] } } }, true],
  ['what its own team has as left out', { not: { labels: { team: ['identity'] } } }, false],
  [
    'its account, and left out what it is in part only',
    { account: ['otp'], not: { currency: ['EUR'], severity: ['critical'] } },
    true,
  ],
  [
    'its account, and left out what it is',
    { account: ['otp'], not: { currency: ['CNY'], severity: ['critical'] } },
    false,
  ],
])('a matcher that names %s', (_, matcher, expected) => {
  expect(matches(matcher, subject)).toBe(expected);
});

test('an alert about lowwater itself goes by its type and by its own name', () => {
  const failing = incident({ account: '@lowwater', rule: 'channel-failed:ops', type: 'channel-failed' });
  expect(matches({ rule: ['channel-failed'] }, matchSubject(failing))).toBe(true);
  expect(matches({ rule: ['channel-failed:ops'] }, matchSubject(failing))).toBe(true);
  expect(matches({ rule: ['channel-failed:finance'] }, matchSubject(failing))).toBe(false);
});

test.each<[Matcher, boolean, string]>([
  [{}, true, 'every alert'],
  [{ labels: {} }, true, 'every alert'],
  [{ currency: ['CNY'] }, false, 'currency CNY'],
  [
    { account: ['otp'], not: { provider: ['twilio'], labels: { team: ['a', 'b'] } } },
    false,
    'account otp, not (provider twilio, team a or b)',
  ],
])('%j matches everything: %s; in words: %s', (matcher, everything, words) => {
  expect(matchesEverything(matcher)).toBe(everything);
  expect(wordMatcher(matcher)).toBe(words);
});

test('a key that the subject does not have never matches', () => {
  expect(matches({ severity: ['critical'] }, { account: 'otp', labels: {} })).toBe(false);
});

test.each<[string, Matcher, boolean]>([
  ['no key at all', {}, true],
  ['a rule and a severity', { rule: ['stale'], severity: ['info'] }, true],
  ['another account', { account: ['marketing'], rule: ['stale'] }, false],
  ['another provider', { provider: ['vonage'] }, false],
  ['another currency', { currency: ['EUR'] }, false],
  ['a label with another value', { labels: { team: ['growth'] } }, false],
  ['what it is as left out', { not: { provider: ['twilio'] } }, false],
  [
    'what it is as left out, but of one severity',
    { not: { provider: ['twilio'], severity: ['critical'] } },
    true,
  ],
  ['what it is as left out, but of one rule', { not: { account: ['otp'], rule: ['stale'] } }, true],
  ['another provider, and a rule as left out', { provider: ['vonage'], not: { rule: ['stale'] } }, false],
])(
  'a matcher that names %s may match alerts of an account, of whatever rule and severity',
  (_, matcher, expected) => {
    const { account: id, labels, provider, currency } = subject;
    expect(mayMatchAlertsOf(matcher, { id, labels, provider, currency })).toBe(expected);
  },
);
