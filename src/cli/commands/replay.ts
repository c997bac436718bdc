import { type Command, jsonOption } from '../command.ts';

export const replayCommand: Command = {
  name: 'replay',
  summary: 'what the configured rules would have said of stored or given history',
  details: `Runs the rules, routes and silences of the configuration over the past: when each rule would have fired, how long before the
balance was empty, how many messages. Writes nothing and sends nothing: try thresholds before they go live.

Without --input the stored polls are replayed; a time in which lowwater was not running counts neither as breach nor as
staleness. With --input the readings of a CSV file: at,sms,voip,currency and optionally account, as "history --csv" writes it;
where readings are missing for longer than usual the account counts as unreadable. The same engine judges as in the daemon: outages of
a provider, silences and grouping are part of it. A credit limit that the provider says counts as it was said last, with --input as 0.
Nobody acknowledges or announces anything in a replay, and every message is delivered at once.

Of rules that warn a time ahead it says how long before empty they warned: what counts as empty is when as much was spent as had been left,
topped up or not. With more than 1.2 times of the time asked for left that was too early, with less than 0.8 times too late; it flapped when
it fired again although nothing was paid in.

--json prints {"incidents":[{"account","rule","type","severity","firedAt","resolvedAt","value","emptyAt","emptyBy"}],"messages":n};
severity is the worst, value what it fired with (money as a decimal string, durations in seconds). emptyAt is when the balance
ran empty: "reached" while it fired; "spent" when after a top-up as much was spent as had been left; or else "projected".

--compare replays the past by another configuration too, and says which alerts would be new, gone, earlier, later or of another severity,
by account, and how many messages each channel would get: "running" is what the daemon has in force. With --json
{"changes":[{"change","account","before":{"rule","severity","firedAt","resolvedAt"},"after":{…}}],"same":n,"messages":[{"channel","before","after"}]}.

--forecasts predicts at each reading, from it and earlier ones alone, when the balance is empty, and says how far off that was.
With --json {"forecasts":[{"account","balance","at","emptyAt","earliest","latest","basis"}]}: as likely before emptyAt as after, four
times in five between earliest and latest; null is unknown, or later than can be predicted.`,
  options: {
    since: {
      value: 'TIME',
      summary: 'a duration before now (90d) or a date (2026-11-01); default 90d, with --input all of it',
    },
    input: { value: 'FILE.csv', summary: 'replay this file; - reads standard input' },
    account: { value: 'ID', summary: 'only this account; whose the file is when it does not say' },
    compare: {
      value: 'OLD.json',
      summary: 'what would change against this configuration, or "running": that of the daemon',
    },
    forecasts: { summary: 'what was predicted at each reading, and how good it was, instead of the rules' },
    json: jsonOption,
  },
  examples: [
    'lowwater replay --since 30d',
    'lowwater replay --config new.json --compare running',
    'lowwater replay --forecasts',
    'lowwater history otp --since 365d --csv | lowwater replay --config new.json --input - --account otp',
  ],
  run: async (context, input) => (await import('../replay/run-replay.ts')).runReplay(context, input),
};
