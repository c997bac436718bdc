import { describe, expect, it } from 'vitest';
import type { ValueSource } from '../../src/domain/settings.ts';
import { authFailed } from '../../src/rules/auth-failed.ts';
import { english } from '../../src/wording/language.ts';
import { buildAccount, buildItem, messageNow } from '../support/messages.ts';

const frame = { language: english, timezone: 'UTC', now: messageNow, currency: null };

function adviceFor(keyFrom: ValueSource | null): string {
  const account = buildAccount({ keyFrom });
  return authFailed.advice(buildItem({ type: 'auth-failed', account }), frame).join(' ');
}

describe('the advice after a key was refused', () => {
  it('asks for a restart where the key comes from the environment, and for nothing that does not help', () => {
    const advice = adviceFor({ kind: 'environment', name: 'OTP_AUTH_SECRET' });
    expect(advice).toContain('OTP_AUTH_SECRET and restart lowwater');
    expect(advice).not.toMatch(/reload|SIGHUP|by itself/);
  });

  it.each([
    ['its file', { kind: 'file', path: '/run/secrets/otp' }, '/run/secrets/otp'],
    ['the configuration', null, '"authSecret" of this account'],
  ] as const)('asks for no restart where lowwater watches %s', (_, keyFrom, place) => {
    const advice = adviceFor(keyFrom);
    expect(advice).toContain(place);
    expect(advice).toContain('by itself');
    expect(advice).not.toContain('restart');
  });
});
