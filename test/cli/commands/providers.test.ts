import { tmpdir } from 'node:os';
import { describe, expect, it } from 'vitest';
import { presetKinds } from '../../../src/providers/presets/preset-kinds.ts';
import { runCli } from '../../support/cli.ts';

const lowwater = (words: string, columns?: number) =>
  runCli(words.split(' '), { cwd: tmpdir(), ...(columns === undefined ? {} : { columns }) });

describe('lowwater providers', () => {
  it('lists every preset with its credentials, balances and certainty', async () => {
    const { code, stdout } = await lowwater('providers');
    expect(code).toBe(0);
    for (const { type } of presetKinds) expect(stdout).toMatch(new RegExp(`^${type} `, 'm'));
    expect(stdout).toMatch(/^twilio +Twilio +accountSid, authToken +main +– +documented$/m);
    expect(stdout).toMatch(/^tencent-cloud .* HMAC-SHA256 +documented$/m);
    expect(stdout).toMatch(/^clickatell .* observed$/m);
  });

  it('fits a narrow terminal', async () => {
    const { stdout } = await lowwater('providers', 60);
    for (const line of stdout.split('\n')) expect(line.length).toBeLessThanOrEqual(60);
  });

  it('says of one what it needs, what is read, from where, and what to write', async () => {
    const { stdout } = await lowwater('providers infobip');
    for (const text of [
      'infobip: Infobip',
      'apiKey    API key with the scope account-management:manage',
      'GET https://api.infobip.com/account/1/balance',
      'needed: your personal address',
      '"apiKey": "$\u007benv:INFOBIP_API_KEY}"',
    ])
      expect(stdout).toContain(text);
  });

  it('says where only client code was seen', async () => {
    expect((await lowwater('providers termii')).stdout).toContain(
      'compare the first reading with your dashboard',
    );
    expect((await lowwater('providers twilio')).stdout).not.toContain('compare the first reading');
  });

  it('prints JSON, of one or of all', async () => {
    const all = JSON.parse((await lowwater('providers --json')).stdout);
    expect(all.providers.length).toBeGreaterThan(presetKinds.length);
    const one = JSON.parse((await lowwater('providers 46elks --json')).stdout);
    expect(one.providers).toMatchObject([
      {
        type: '46elks',
        certainty: 'documented',
        example: { accounts: [{ credentials: { apiUsername: '$\u007benv:_46ELKS_API_USERNAME}' } }] },
      },
    ]);
  });

  it('names the nearest of a type that is none', async () => {
    expect(await lowwater('providers twillio')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('did you mean "twilio"?'),
    });
  });
});
