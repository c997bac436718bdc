import { cleanText } from '../../domain/plain-text.ts';
import { type Delivery, whyMissed } from '../../ports/channel.ts';
import type { ReportOrder } from '../act-here.ts';
import { type Backend, operatorCommand } from '../backend.ts';
import { type Command, CommandError, exitCodes, jsonOption, UsageError } from '../command.ts';
import type { CommandContext } from '../context.ts';
import { request } from '../daemon/remote-views.ts';
import { loadConfiguration } from '../load-configuration.ts';
import { withReader } from '../open-reader.ts';
import { requireKnown, suggest } from '../read-options.ts';
import { layoutWidth, printJson } from '../terminal/output.ts';

export const reportCommand = operatorCommand({
  name: 'report',
  summary: 'send or print a report now',
  details: `Covers the time since its last scheduled run. Its schedule stays as it is.
--json prints it as the webhook channel sends it: {"type":"lowwater.report","timestamp","id","data":{"report","headline","since",
"until","accounts":[…],"truncated"}}.`,
  positionals: [{ name: 'ID', summary: 'the report, as the configuration names it', completes: 'reports' }],
  options: {
    print: { summary: 'print it instead of sending it' },
    json: { summary: 'print it as JSON instead of sending it' },
  },
  examples: ['lowwater report weekly --print'],
  async run(context, input, backend) {
    const { names, lost } = backend;
    const named = input.positional('ID');
    // Loading a configuration with errors prints them. A report is sent even if a channel cannot be read.
    if (lost.size > 0 && !names.reports.includes(named)) await loadConfiguration(context, input);
    const id = requireKnown('report', names.reports, named);
    return input.flag('json') || input.flag('print')
      ? printReport(context, backend, { id, asJson: input.flag('json') })
      : sendReport(context, backend, id);
  },
});

async function printReport(
  context: CommandContext,
  backend: Backend,
  { id, asJson }: { readonly id: string; readonly asJson: boolean },
): Promise<number> {
  const columns = layoutWidth(context.stdout) ?? undefined;
  const { text, report } = await askForReport(context, backend, {
    id,
    method: 'GET',
    ...(columns === undefined ? {} : { query: `?width=${columns}` }),
    act: ({ renderReport }, order) => renderReport(order, columns),
  });
  if (asJson) await printJson(context, report);
  else await context.stdout.write(text);
  return exitCodes.ok;
}

async function sendReport(context: CommandContext, backend: Backend, id: string): Promise<number> {
  const { deliveries } = await askForReport(context, backend, {
    id,
    method: 'POST',
    query: `?${new URLSearchParams({ by: context.user })}`,
    act: async ({ sendReport }, order) => ({ deliveries: await sendReport(order, context.signal) }),
  });
  const failed: string[] = [];
  for (const { channel, delivered, reason } of deliveries) {
    if (delivered) await context.stdout.write(`${id} is sent to ${channel}.\n`);
    else failed.push(`${channel}: ${cleanText(reason ?? '', 300)}`);
  }
  if (failed.length > 0) throw new CommandError(`${id} could not be sent to ${failed.join('; ')}`);
  return exitCodes.ok;
}

/** Asks the daemon for a report. If none answers, uses the database, and answers as a daemon would. */
async function askForReport<Answer>(
  context: CommandContext,
  { daemon, settings, lost }: Backend,
  report: {
    readonly id: string;
    readonly method: 'GET' | 'POST';
    readonly query?: string;
    readonly act: (here: typeof import('../act-here.ts'), order: ReportOrder) => Promise<Answer>;
  },
): Promise<Answer> {
  const { id, method, query = '', act } = report;
  if (daemon !== null)
    return request<Answer>(daemon, method, `/api/v1/reports/${encodeURIComponent(id)}${query}`);
  const configured = settings?.reports.find((candidate) => candidate.id === id);
  if (settings === null || configured === undefined) throw new TypeError('a report without its settings');
  const here = await import('../act-here.ts');
  return withReader(context, settings.storage, (reader) =>
    act(here, { settings, lost, report: configured, reader }),
  );
}

export const testChannelCommand: Command = {
  name: 'test-channel',
  summary: "send a test message and report the receiver's answer",
  details: `Prints what went out and what the receiver said. What is taken in part is tried again for a minute. Tools that wake people are
sent what wakes nobody.
--json prints {"channel","result","reason","said","refusedRecipients","outgoing"}: results are delivered, refused (it surely did not arrive),
unknown (it may have arrived) and dead (it never will). Exits with 0 when the message was delivered to all, else with 1.`,
  positionals: [{ name: 'NAME', summary: 'the channel', completes: 'channels' }],
  options: { json: jsonOption },
  examples: ['lowwater test-channel ops'],
  run: async (context, input) => {
    const { settings } = await loadConfiguration(context, input);
    const name = input.positional('NAME');
    const channel = settings.channels.find((candidate) => candidate.name === name);
    if (channel === undefined) {
      const known = settings.channels.map((candidate) => candidate.name);
      throw new UsageError(`there is no channel "${name}"`, suggest(name, known));
    }
    const { sendTest } = await import('../act-here.ts');
    const { delivery, outgoing } = await sendTest(settings, channel, context.signal);
    const described = describeDelivery(delivery);
    if (input.flag('json')) await printJson(context, { channel: name, ...described, outgoing });
    else {
      await context.stdout.write(`${cleanLines(outgoing)}\n\n`);
      if (delivery.kind !== 'delivered') throw new CommandError(`${name}: ${wordFailure(delivery)}`);
      const except = described.reason === null ? '' : `, but ${cleanText(described.reason, 1000)}`;
      const said = delivery.said === undefined ? '' : ` (${cleanText(delivery.said, 300)})`;
      await context.stdout.write(`${name}: test message delivered${except}${said}.\n`);
    }
    return described.reason === null ? exitCodes.ok : exitCodes.failed;
  },
};

/** The sent message for a terminal, without characters that would move the cursor. */
function cleanLines(text: string): string {
  return text
    .trimEnd()
    .split('\n')
    .map((line) => `  ${cleanText(line, 4000)}`.trimEnd())
    .join('\n');
}

/** A delivery as `--json` prints it, without a reason if all recipients took the message. */
function describeDelivery(delivery: Delivery) {
  const reason = whyMissed(delivery);
  if (delivery.kind === 'delivered') {
    const { said = null, refusedRecipients = [] } = delivery;
    return { result: 'delivered', reason, said, refusedRecipients };
  }
  if (delivery.kind === 'dead') return { result: 'dead', reason, said: null, refusedRecipients: [] };
  const refusedRecipients = delivery.refused?.recipients ?? [];
  return { result: delivery.certainty, reason, said: null, refusedRecipients };
}

function wordFailure(delivery: Exclude<Delivery, { readonly kind: 'delivered' }>): string {
  const reason = cleanText(whyMissed(delivery) ?? '', 1000);
  if (delivery.kind === 'dead') return `refused for good: ${reason}`;
  return delivery.certainty === 'unknown'
    ? `it may or may not have arrived: ${reason}`
    : `not delivered: ${reason}`;
}
