import { describe, expect, it } from 'vitest';
import { cleanProviderText } from '../../src/provider/provider-text.ts';

const secret = 'k3y+With/Odd=chars and "quotes"';

describe('text of the provider', () => {
  it.each([
    ['as it is', secret],
    ['URL-encoded', encodeURIComponent(secret)],
    ['URL-encoded in lower case', encodeURIComponent(secret).replace(/%../g, (octet) => octet.toLowerCase())],
    ['as a form writes it', encodeURIComponent(secret).replaceAll('%20', '+')],
    ['in base64', Buffer.from(secret).toString('base64').replace(/=+$/, '')],
    ['in base64 for addresses', Buffer.from(secret).toString('base64url')],
  ])('loses a secret that is echoed %s', (_name, echo) => {
    expect(cleanProviderText(`key ${echo} is wrong`, secret, 200)).toBe('key [secret] is wrong');
  });

  it('stays as it is where there is no secret in it', () => {
    expect(cleanProviderText('199', secret, 200)).toBe('199');
    expect(cleanProviderText('Too Many Requests', '', 200)).toBe('Too Many Requests');
  });

  it('with half a character in the secret is no error', () => {
    expect(cleanProviderText('a \ud800 b and more text', 'x\ud800y', 200)).not.toContain('\ud800');
  });
});
