import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { signLink, verifyAcknowledgement, verifyLink } from '../../src/http/ack-link.ts';
import { signAcknowledgement } from '../support/old-links.ts';

const key = Buffer.alloc(32, 1);
const now = Date.UTC(2026, 10, 20);
const grant = { account: 'otp', rule: 'sms-low', incident: 'i-1', expiresAt: now + 1000 };

/** Whether the link is good for exactly this. */
function isGoodFor(query: URLSearchParams, { account, rule, incident }: typeof grant): boolean {
  const verified = verifyAcknowledgement([key], query, now);
  if (verified.kind !== 'valid') return false;
  const own = { account, rule, incident };
  const others = (['account', 'rule', 'incident'] as const).map((name) => ({
    ...own,
    [name]: `${own[name]}!`,
  }));
  return verified.isOf(own) && !others.some(verified.isOf);
}

describe('a link that acknowledges', () => {
  it('is good for its incident alone until it expires', () => {
    const query = new URLSearchParams(signAcknowledgement(key, grant));
    expect(isGoodFor(query, grant)).toBe(true);
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
        expect(isGoodFor(query, own)).toBe(true);
        const moved = new URLSearchParams(query);
        moved.set('account', account + rule);
        moved.set('rule', '');
        if (rule !== '') expect(verifyAcknowledgement([key], moved, now).kind).toBe('forged');
      }),
    );
  });
});

describe('a short link that acknowledges', () => {
  const minute = 60_000;
  const link = signLink(key, { incident: 'i-1', expiresAt: now + minute });

  it('has 22 characters, and is good for its incident alone until it expires', () => {
    expect(link).toMatch(/^[\w-]{22}$/);
    const verified = verifyLink([key], link, now);
    if (verified.kind !== 'valid') throw new Error(verified.kind);
    expect(['i-1', 'i-2'].map((incident) => verified.isOf({ ...grant, incident }))).toEqual([true, false]);
    expect(verifyLink([key], link, now + minute)).toEqual({ kind: 'expired' });
    expect(verifyLink([key], link, now + 400 * 24 * 60 * minute)).toEqual({ kind: 'expired' });
  });

  it('is worth nothing with any of its characters changed, with another key, cut or empty', () => {
    for (let place = 0; place < link.length; place++) {
      const other = link[place] === 'A' ? 'B' : 'A';
      const changed = link.slice(0, place) + other + link.slice(place + 1);
      expect(verifyLink([key], changed, now).kind).toBe('forged');
    }
    expect(verifyLink([Buffer.alloc(32, 2)], link, now).kind).toBe('forged');
    for (const text of [
      '',
      '.',
      link.slice(1),
      `${link}A`,
      `${link}.A`,
      `.${link}`,
      `${link.slice(0, 9)}.${link.slice(9)}`,
    ])
      expect(verifyLink([key], text, now).kind).toBe('forged');
  });

  it.each(['.', ',', ')', '>.', '”', '。', '…', ' '])(
    'is good with “%s” behind it, as it is copied out of a sentence',
    (behind) => {
      expect(verifyLink([key], link + behind, now).kind).toBe('valid');
      expect(verifyLink([key], link + behind, now + minute)).toEqual({ kind: 'expired' });
    },
  );

  it('is good for any length of time that links have', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 0, max: 2 ** 41 }),
        fc.integer({ min: 1, max: 60 * 24 * 31 }),
        (at, minutes) => {
          const signed = signLink(key, { incident: 'i', expiresAt: at + minutes * minute });
          expect(verifyLink([key], signed, at).kind).toBe('valid');
          expect(verifyLink([key], signed, at + (minutes + 1) * minute).kind).toBe('expired');
        },
      ),
    );
  });
});
