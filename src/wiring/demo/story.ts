import type { ScenarioInput } from '../../simulator/scenario.ts';

/** The length of the story, which then begins again. */
export const storyMs = 30_000;

/** The script of the simulated provider. Seconds here are seconds on the screen. */
export const storyScenario: ScenarioInput = {
  latency: { min: '5ms', max: '25ms' },
  accounts: [
    { id: 'otp', authSecret: 'demo-otp-secret', sms: '560', voip: '40', currency: 'CNY' },
    {
      id: 'marketing',
      authSecret: 'demo-marketing-secret',
      sms: '4300.5',
      currency: 'CNY',
      burn: { sms: '5400' },
    },
    {
      id: 'voice',
      authSecret: 'demo-voice-secret',
      sms: '150',
      voip: '720.25',
      currency: 'EUR',
      burn: { voip: '1800' },
    },
  ],
  events: [
    // Log-ins at full pace: 100 a second, down through the thresholds.
    ...[420, 330, 180, 120, 40, -18.383].map(
      (amount, second) =>
        ({
          at: `${second + 1}s`,
          every: '30s',
          do: 'set-balance',
          account: 'otp',
          amount: String(amount),
        }) as const,
    ),
    { at: '8s', every: '30s', do: 'top-up', account: 'otp', amount: '1500' },
    { at: '9500ms', every: '30s', do: 'revoke-key', account: 'marketing' },
    { at: '11500ms', every: '30s', do: 'restore-key', account: 'marketing' },
    { at: '13s', every: '30s', do: 'outage', as: 'http-error', status: 503, for: '3500ms' },
    { at: '25s', every: '30s', do: 'set-balance', account: 'otp', amount: '560' },
  ],
};

/** The narrator's words between the messages, with their instants (milliseconds from the start of the story). */
export const narration: readonly { readonly at: number; readonly text: string }[] = [
  {
    at: 0,
    text: 'Log-ins at full pace: the SMS balance of "OTP production" falls through 500, 200, 50 and zero.',
  },
  { at: 7000, text: 'On-call acknowledges the incident: no reminders until it resolves or gets worse.' },
  { at: 8000, text: 'Finance tops up 1500.00 CNY.' },
  { at: 9500, text: 'Somebody rotates the key of "Marketing" and forgets lowwater.' },
  { at: 11_500, text: 'The new key is in place.' },
  { at: 13_000, text: 'The provider goes down: one message for all accounts, not three.' },
  { at: 16_500, text: 'The provider is back.' },
];

export const acknowledgeAt = 7000;

/** The configuration of the demo: like one for production, with seconds instead of minutes. */
export function storyConfiguration(parts: {
  readonly language: string;
  readonly provider: string;
  readonly other: { readonly entry: object; readonly account: object };
  readonly channels: Readonly<Record<string, object>>;
  readonly port: number;
  /** Whether every channel gets every alert; else all except the first get only critical ones. */
  readonly everyone: boolean;
}): object {
  const names = Object.keys(parts.channels);
  return {
    language: parts.language,
    provider: { baseUrl: parts.provider, timeout: '1s', backoff: { initial: '1s', max: '1s' } },
    providers: { other: parts.other.entry },
    poll: { every: '1s' },
    accounts: [
      {
        id: 'otp',
        name: 'OTP production',
        authSecret: 'demo-otp-secret',
        currency: 'CNY',
        labels: { team: 'identity' },
      },
      { id: 'marketing', name: 'Marketing', authSecret: 'demo-marketing-secret', currency: 'CNY' },
      { id: 'voice', name: 'Voice Europe', authSecret: 'demo-voice-secret', currency: 'EUR' },
      { id: 'other', provider: 'other', ...parts.other.account },
    ],
    rules: [
      {
        id: 'sms-low',
        type: 'below',
        thresholds: { info: 500, warning: 200, critical: 50 },
        hysteresis: '10%',
        match: { account: 'otp' },
      },
      { id: 'sms-negative', type: 'negative' },
      { id: 'top-ups', type: 'top-up', atLeast: 100 },
      { id: 'no-readings', type: 'stale', after: '2s' },
    ],
    channels: parts.channels,
    routes: [
      { match: { severity: 'critical' }, channels: names, repeatEvery: '1h', groupWait: '300ms' },
      { channels: parts.everyone ? names : names.slice(0, 1), repeatEvery: '4h', groupWait: '300ms' },
    ],
    // The database is next to the demo's configuration, not among a daemon's data (LOWWATER_DATA).
    storage: { path: 'lowwater.db' },
    server: { host: '127.0.0.1', port: parts.port },
    log: { level: 'fatal' },
  };
}
