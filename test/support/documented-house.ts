import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '../../src/system/clock.ts';
import { minuteMs, units } from './account-facts.ts';
import { loadFile } from './cli.ts';
import { type SeedPoll, seedDatabase } from './seed-database.ts';

/** Where the accounts and channels of a documented house are. */
export interface Outside {
  readonly provider: string;
  readonly webhook: string;
}

const nowhere: Outside = {
  provider: 'http://127.0.0.1:9',
  webhook: 'http://127.0.0.1:9/services/T0/B0/secret',
};

/**
 * A folder such as the documentation speaks of: `config.example.json` as `config.json`, with its secrets set and its
 * addresses on this machine, next to a database of three days in which balances fell, were topped up and could not be
 * read for a while. The keys are those that the simulator's own scenario accepts.
 */
export async function makeDocumentedHouse({ provider, webhook }: Outside = nowhere): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'lowwater-documented-'));
  const file = join(folder, 'config.json');
  const example = readFileSync(join(import.meta.dirname, '../../config.example.json'), 'utf8');
  const text = example
    .replace('https://api.example.com', provider)
    .replace('https://eu.example.com', provider)
    .replace(/\$\{env:([A-Z]+)_AUTH_SECRET\}/g, (_, name: string) => `demo-${name.toLowerCase()}-secret`)
    .replace(/"\$\{env:HEARTBEAT_URL:-[^}]*\}"/, '"http://127.0.0.1:9/ping"')
    .replace('"port": 8080', '"port": 0')
    .replace(/\$\{env:SMTP_URL\}/, 'smtp://127.0.0.1:9')
    .replace(/\$\{env:LOWWATER_TOKEN:-\}/, '')
    .replace(/\$\{env:[A-Z_]*SECRET\}/g, 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw')
    .replace(
      /"\$\{env:PAGERDUTY_ROUTING_KEY\}"/,
      `"0123456789abcdef0123456789abcdef", "baseUrl": "${new URL(webhook).origin}"`,
    )
    .replace('"type": "twilio"', `"type": "twilio", "baseUrl": "${provider}"`)
    .replace(/\$\{env:TWILIO_[A-Z_]+\}/g, 'simulated-credential')
    .replace(/\$\{env:[A-Z_]+\}/g, webhook);
  writeFileSync(file, text);
  const providers = readFileSync(join(import.meta.dirname, '../../docs/providers.md'), 'utf8');
  // Another test's daemon may be on the usual port.
  for (const [, name = '', written = ''] of providers.matchAll(/^```json (\w+\.json)\n(.*?)^```$/gms))
    writeFileSync(join(folder, name), written.replace('{', '{ "server": { "port": 0 },'));
  const loaded = await loadFile(file);
  await seedDatabase(loaded.settings.storage.path ?? '', loaded.settings, makePolls());
  return folder;
}

function makePolls(): SeedPoll[] {
  const count = 3 * 288;
  const start = Math.floor(systemClock.now() / minuteMs) * minuteMs - count * 5 * minuteMs;
  return Array.from({ length: count }, (_, index): SeedPoll[] => {
    const at = start + index * 5 * minuteMs;
    const sms = index < 500 ? 800 - index * 1.5 : 1550 - index * 1.5;
    const blind = index >= 600 && index < 612;
    return [
      { account: 'otp', at, answer: blind ? 'timeout' : { sms: units(sms), voip: units(10) } },
      { account: 'marketing', at: at + 1, answer: { sms: units(700), voip: 0 } },
    ];
  }).flat();
}
