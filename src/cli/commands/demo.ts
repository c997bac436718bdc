import { parseDuration } from '../../domain/duration.ts';
import { type Command, exitCodes, UsageError } from '../command.ts';

export const demoCommand: Command = {
  name: 'demo',
  summary: 'the whole product at work, embedded and sped up',
  details: `Provider simulator, daemon, page, a Slack and an SMTP receiver that print each message. No account, no network, no file needed:
balances fall, alerts arrive and resolve.`,
  options: {
    channels: {
      value: 'KINDS',
      summary: 'kinds of channels that are shown, with commas between: slack and email when not given',
    },
    for: { value: 'DURATION', summary: 'ends by itself after this time, such as 20s' } },
  examples: ['lowwater demo', 'lowwater demo --for 20s'],
  usesConfiguration: false,
  run: async (context, input) => {
    const limit = readLimit(input.option('for'));
    const ending = new AbortController();
    const end = (): void => ending.abort();
    context.signal.addEventListener('abort', end, { once: true });
    if (context.signal.aborted) end();
    const cancel = limit === null ? () => undefined : context.clock.setTimer(limit, end);
    await context.rooms.runDemo({ stdout: context.stdout, signal: ending.signal });
    cancel();
    return exitCodes.ok;
  },
};

function readLimit(text: string | null): number | null {
  if (text === null) return null;
  const ms = parseDuration(text);
  if (ms === null || ms === 0)
    throw new UsageError(`--for takes a duration such as 20s or 2m, not "${text}"`);
  return ms;
}
