import type { FileContent } from '../../src/config/interpolate.ts';
import { checkAll, type LoadedConfig } from '../../src/config/load-config.ts';
import { gather } from '../../src/config/read-draft.ts';
import { atOnce } from '../../src/domain/parts.ts';
import { cronCalendar } from '../../src/system/calendar.ts';

export const now = Date.UTC(2026, 10, 20);

/** Secrets of the sample: none of them may ever be seen in a message. */
export const sampleSecrets = {
  OTP_AUTH_SECRET: 'otp-key-8f3a9c1d',
  SLACK_WEBHOOK_URL: 'https://hooks.slack.com/services/T0001/B0001/slackcredential9',
  SMTP_URL: 'smtps://mailer:mail%40word77@mail.example.com:465',
  HOOK_SECRET: `whsec_${Buffer.alloc(32, 7).toString('base64')}`,
  LOWWATER_TOKEN: 'page-token-5d1e7b2a90',
} as const;

/** `${env:NAME}` and its like. */
export function placeholder(body: string): string {
  return `\${${body}}`;
}

/** A small valid file as data; tests change copies of it. */
export function sample() {
  return {
    provider: { baseUrl: 'https://api.example.com' } as Record<string, unknown>,
    poll: { every: '5m' } as Record<string, unknown>,
    accounts: [
      { id: 'otp', authSecret: placeholder('env:OTP_AUTH_SECRET'), labels: { team: 'identity' } },
      { id: 'marketing', authSecret: placeholder('file:secrets/marketing') },
    ] as Record<string, unknown>[],
    rules: [{ id: 'sms-low', type: 'below', threshold: 100 }] as Record<string, unknown>[],
    channels: {
      ops: { type: 'slack', webhookUrl: placeholder('env:SLACK_WEBHOOK_URL') },
      finance: {
        type: 'email',
        smtpUrl: placeholder('env:SMTP_URL'),
        from: 'Lowwater <lowwater@example.com>',
        to: ['finance@example.com'],
      },
    } as Record<string, Record<string, unknown>>,
    routes: [{ channels: ['ops', 'finance'] }] as Record<string, unknown>[],
    silences: [] as Record<string, unknown>[],
    reports: [] as Record<string, unknown>[],
    server: { token: placeholder('env:LOWWATER_TOKEN') } as Record<string, unknown>,
  };
}

const sampleFiles: Readonly<Record<string, FileContent>> = {
  '/etc/lowwater/secrets/marketing': { text: 'marketing-key-77aa01\n' },
};

interface LoadOptions {
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly files?: Readonly<Record<string, FileContent>>;
}

/** Loads a text, or data written as JSON with two blanks of indentation. */
export function load(config: unknown, { env = sampleSecrets, files = {} }: LoadOptions = {}): LoadedConfig {
  const text = typeof config === 'string' ? config : JSON.stringify(config, null, 2);
  const all: Readonly<Record<string, FileContent>> = { ...sampleFiles, ...files };
  const request: Parameters<typeof gather>[0] & Parameters<typeof checkAll>[1] = {
    path: '/etc/lowwater/config.json',
    readFile: (path) =>
      path === '/etc/lowwater/config.json' ? { text } : (all[path] ?? { failed: 'no such file' }),
    listFiles: (pattern) => ({
      paths: Object.keys(all).filter((path) => path.startsWith(pattern.replace(/\*.*/, ''))),
    }),
    env,
    calendar: cronCalendar,
    now,
  };
  return atOnce(checkAll(atOnce(gather(request)), request));
}

/** The settings of a file that must be valid, and what is doubtful in it. */
export function loadValid(config: unknown, options?: LoadOptions) {
  const result = load(config, options);
  if (result.kind === 'invalid') throw new Error(JSON.stringify(result.problems, null, 2));
  return { ...result, warnings: atOnce(result.warnings) };
}
