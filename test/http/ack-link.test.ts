import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { signAcknowledgement, verifyAcknowledgement } from '../../src/http/ack-link.ts';

const key = Buffer.alloc(32, 1);
const now = Date.UTC(2026, 10, 20);
const grant = { account: 'otp', rule: 'sms-low', incident: 'i-1', expiresAt: now + 1000 };

describe('a link that acknowledges', () => {
  it('is good for its incident until it expires', () => {
    const query = new URLSearchParams(signAcknowledgement(key, grant));
    expect(verifyAcknowledgement([key], query, now)).toEqual({ kind: 'valid', grant });
    expect(verifyAcknowledgement([key], query, grant.expiresAt)).toEqual({ kind: 'expired' });
  });

  it.each(['account', 'rule', 'incident', 'expires', 'signature'])(
    'is worth nothing when its %s was changed',
    (name) => {
      const query = new URLSearchParams(signAcknowledgement(key, grant));
      query.set(name, name === 'expires' ? '99999999999999' : 'other');
      expect(verifyAcknowledgement([key], query, now)).toEqual({ kind: 'forged' });
    },
  );

  it('is worth nothing with another key, without a signature, or empty', () => {
    const query = new URLSearchParams(signAcknowledgement(key, grant));
    expect(verifyAcknowledgement([Buffer.alloc(32, 2)], query, now).kind).toBe('forged');
    query.delete('signature');
    expect(verifyAcknowledgement([key], query, now).kind).toBe('forged');
    expect(verifyAcknowledgement([key], new URLSearchParams(), now).kind).toBe('forged');
  });

  it('is good while one of several keys has signed it, as through a rotation', () => {
    const query = new URLSearchParams(signAcknowledgement(key, grant));
    expect(verifyAcknowledgement([Buffer.alloc(32, 2), key], query, now).kind).toBe('valid');
    expect(verifyAcknowledgement([], query, now).kind).toBe('forged');
  });

  it('carries any id, and never lets two grants share a signature', () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), fc.string(), (account, rule, incident) => {
        const own = { account, rule, incident, expiresAt: now + 1 };
        const query = new URLSearchParams(signAcknowledgement(key, own));
        expect(verifyAcknowledgement([key], query, now)).toEqual({ kind: 'valid', grant: own });
        const moved = new URLSearchParams(query);
        moved.set('account', account + rule);
        moved.set('rule', '');
        if (rule !== '') expect(verifyAcknowledgement([key], moved, now).kind).toBe('forged');
      }),
    );
  });
});
