import { existsSync } from 'node:fs';
import { createChannel } from '../channels/registry.ts';
import { sendWhole } from '../channels/send-whole.ts';
import { renderWebhookPayload } from '../channels/webhook/webhook-payload.ts';
import { composeReport } from '../daemon/compose-report.ts';
import { createHistoryLoader } from '../daemon/history-loader.ts';
import { listProxySecrets, listSecretTexts } from '../daemon/known-secrets.ts';
import { periodStart } from '../daemon/reporting.ts';
import { TestAlert } from '../daemon/test-alerts.ts';
import { createForeignTexts } from '../domain/foreign-text.ts';
import type { Message } from '../domain/message.ts';
import { isRefusal } from '../domain/operator.ts';
import { newNotification } from '../domain/outbox.ts';
import type { ChannelSettings, ReportSettings, Settings } from '../domain/settings.ts';
import { minuteMs } from '../domain/time.ts';
import { startMonitor } from '../engine/restore.ts';
import { sketchTest, type WantedTest } from '../engine/test-alert.ts';
import type { ReportDelivery } from '../http/options.ts';
import { renderText } from '../messages/render-text.ts';
import { type Channel, whyMissed } from '../ports/channel.ts';
import type { StartedTest } from '../ports/orders.ts';
import type { StoreReader } from '../ports/store.ts';
import { type DescribedExchange, describeExchange } from '../providers/describe-exchange.ts';
import { createEntryClients } from '../providers/transport/client.ts';
import { cronCalendar as calendar } from '../system/calendar.ts';
import { systemClock as clock } from '../system/clock.ts';
import { systemRandom as random } from '../system/random.ts';
import { type CheckedAccount, checkAccounts } from '../views/check.ts';
import { emptyReader } from '../views/empty-reader.ts';
import { restoreStored } from '../views/stored-views.ts';
import { CommandError } from './command.ts';
import type { CommandContext } from './context.ts';
import { withReader } from './open-reader.ts';

/** Polls now and stores nothing. `account`: null for all accounts. `explain` is called with each request that was sent, and its answer. */
export async function checkHere(
  context: CommandContext,
  order: {
    readonly settings: Settings;
    readonly account: string | null;
    readonly explain?: (exchange: DescribedExchange) => void;
  },
): Promise<readonly CheckedAccount[]> {
  const { settings, account, explain } = order;
  const provider = createEntryClients(settings, {
    texts: textsFor(settings),
    clock,
    random,
    ...(explain === undefined ? {} : { observe: (seen) => explain(describeExchange(seen)) }),
  });
  const adapters = { clock, random, calendar, signal: context.signal };
  try {
    return await withStored(context, settings, (reader) =>
      checkAccounts({ settings, account, provider, reader, ...adapters }),
    );
  } finally {
    await provider.close();
  }
}

/** Works without a database too: rules that need history then say that they have too little. */
function withStored<T>(
  context: CommandContext,
  { storage }: Settings,
  use: (reader: StoreReader) => Promise<T>,
): Promise<T> {
  const isMissing = storage.path !== undefined && !existsSync(storage.path);
  return isMissing ? use(emptyReader) : withReader(context, storage, use);
}

/** Sends a test message. Returns the receiver's answer with what was sent, as text. */
export function sendTest(settings: Settings, channel: ChannelSettings, signal: AbortSignal) {
  const { server, timezone } = settings;
  const now = { id: random.id(), at: clock.now(), publicUrl: server?.publicUrl ?? null, timezone };
  const language = channel.language ?? settings.language;
  const message = { kind: 'test', ...now, language, channel: channel.name } as const;
  return withChannel({ settings }, channel, async (open) => ({
    delivery: await sendWhole(open, message, { clock, signal }),
    outgoing: await open.preview(message),
  }));
}

/** The longest time that a command keeps trying to send the end of a test. */
const owedMs = 2 * minuteMs;

/** Sends a test alert from this process, and waits until it has ended. If the command is ended, the end of the test is due at once. */
export async function sendTestAlert(
  context: CommandContext,
  from: Pick<ReportOrder, 'settings' | 'lost'>,
  { wanted, begun }: { readonly wanted: WantedTest; readonly begun: (test: StartedTest) => Promise<void> },
): Promise<void> {
  const { settings } = from;
  const accounts = settings.accounts.filter(({ id }) => id === wanted.account);
  await withStored(context, settings, async (reader) => {
    const of = { settings: { ...settings, accounts }, reader, clock, random, calendar };
    const known = await restoreStored(of, await reader.load());
    const incident = sketchTest(known.state, wanted, clock.now());
    if (isRefusal(incident)) throw new CommandError(incident.why);
    let woken = Promise.withResolvers<void>();
    const wake = () => woken.resolve();
    context.signal.addEventListener('abort', wake);
    const channels = settings.channels.map((channel) => openChannel(from, channel));
    const test = new TestAlert({ ...known, acknowledgeUrl: () => null, wake }, incident, channels);
    const said = begun(test.started);
    let until = test.started.resolvesAt + owedMs;
    while (!test.isOver && clock.now() < until) {
      woken = Promise.withResolvers<void>();
      if (context.signal.aborted && clock.now() < test.started.resolvesAt) test.resolve(clock.now());
      else test.step(clock.now());
      const cancel = clock.setTimer(Math.max(10, test.nextAt - clock.now()), wake);
      await woken.promise;
      cancel();
      if (context.signal.aborted) until = Math.min(until, clock.now() + owedMs / 12);
    }
    test.stop();
    await Promise.all(channels.map((channel) => channel.close()));
    await said;
    if (!test.isOver) throw new CommandError('the end of the test could not be sent everywhere');
  });
}

export interface ReportOrder {
  readonly settings: Settings;
  /** The parts of the file that are wrong or unresolved (`OperatorConfiguration`). */
  readonly lost?: ReadonlySet<string>;
  readonly report: ReportSettings;
  readonly reader: StoreReader;
}

/** The report as it would be sent now, over the time since its last run. */
async function composeNow({ settings, report, reader }: ReportOrder): Promise<Message> {
  const now = clock.now();
  const state = startMonitor({ settings, stored: await reader.load(), calendar, random, now });
  const historyLoader = createHistoryLoader(state, reader, () => now);
  const period = { id: report.id, since: periodStart(state, report, now), until: now };
  const id = random.id();
  const envelope = newNotification({ id, channel: '', items: [], report: period, now, dueAt: now });
  const frame = { state, reader, historyLoader, now: () => now, acknowledgeUrl: () => null };
  return composeReport(frame, envelope, period);
}

/** The width if there is no terminal. */
const reportWidth = 100;

/** A report for people in `columns` columns, and as the webhook channel sends it. */
export async function renderReport(order: ReportOrder, columns = reportWidth) {
  const message = await composeNow(order);
  return { text: `${renderText(message, columns)}\n`, report: renderWebhookPayload(message) };
}

export async function sendReport(
  order: ReportOrder,
  signal: AbortSignal,
): Promise<readonly ReportDelivery[]> {
  const { settings, report } = order;
  const message = await composeNow(order);
  const channels = settings.channels.filter(({ name }) => report.channels.includes(name));
  const send = async (channel: ChannelSettings) => {
    const language = report.language ?? channel.language ?? settings.language;
    const delivery = await withChannel(order, channel, (open) =>
      sendWhole(open, { ...message, id: random.id(), language }, { clock, signal }),
    );
    const reason = whyMissed(delivery);
    return { channel: channel.name, delivered: reason === null, reason };
  };
  return Promise.all(channels.map(send));
}

/** A channel. If the file does not give its address or secret, it sends nothing: a placeholder stands in for them. */
function openChannel(
  { settings, lost }: Pick<ReportOrder, 'settings' | 'lost'>,
  channel: ChannelSettings,
): Channel {
  const open = createChannel(channel, { clock, texts: textsFor(settings) });
  if (!lost?.has(`channels.${channel.name}`)) return open;
  const reason = 'its settings are wrong or unresolved here (see lowwater validate)';
  return {
    name: open.name,
    minGapMs: 0,
    send: async () => ({ kind: 'dead', reason }),
    preview: (message) => open.preview(message),
    close: () => open.close(),
  };
}

async function withChannel<T>(
  from: Pick<ReportOrder, 'settings' | 'lost'>,
  channel: ChannelSettings,
  use: (open: Channel) => Promise<T>,
): Promise<T> {
  const open = openChannel(from, channel);
  try {
    return await use(open);
  } finally {
    await open.close();
  }
}

/** The texts that must not be quoted from others: every secret of the settings and of proxies. */
function textsFor(settings: Settings) {
  return createForeignTexts([...listSecretTexts(settings), ...listProxySecrets(process.env)]);
}
