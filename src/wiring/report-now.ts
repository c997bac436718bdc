import type { SentReport } from '../cli/context.ts';
import { createForeignTexts, type ForeignTexts } from '../domain/foreign-text.ts';
import type { Message } from '../domain/message.ts';
import type { ChannelSettings, ReportSettings, Settings } from '../domain/settings.ts';
import type { ReportDesk } from '../http/options.ts';
import type { Channel } from '../ports/channel.ts';
import type { StoreReader } from '../ports/store.ts';
import { cronCalendar } from '../system/calendar.ts';
import { systemClock } from '../system/clock.ts';
import { systemRandom } from '../system/random.ts';

interface ReportOrder {
  readonly settings: Settings;
  readonly report: ReportSettings;
  readonly reader: StoreReader;
}

/** A report as it would go out now. */
export async function composeReport({ settings, report, reader }: ReportOrder): Promise<Message> {
  const { composeReportNow } = await import('../views/send-now.ts');
  const adapters = { clock: systemClock, random: systemRandom, calendar: cronCalendar };
  return composeReportNow({ settings, report, reader, ...adapters });
}

/** A report for people, in so many columns, and as the webhook channel sends it. */
export async function renderReport(
  message: Message,
  columns: number,
): Promise<{ readonly text: string; readonly payload: object }> {
  const [{ renderText }, { renderWebhookPayload }] = await Promise.all([
    import('../messages/render-text.ts'),
    import('../channels/webhook/webhook-payload.ts'),
  ]);
  return { text: `${renderText(message, columns)}\n`, payload: renderWebhookPayload(message) };
}

/** Sends a report to each of its channels now. */
export async function sendReport(order: ReportOrder, signal: AbortSignal): Promise<readonly SentReport[]> {
  const { settings, report } = order;
  const message = await composeReport(order);
  const channels = settings.channels.filter(({ name }) => report.channels.includes(name));
  const send = async (channel: ChannelSettings) => {
    const delivery = await withChannel({ settings, channel }, (open) => open.send(message, signal));
    const reason = delivery.kind === 'delivered' ? null : delivery.reason;
    return { channel: channel.name, delivered: reason === null, reason };
  };
  return Promise.all(channels.map(send));
}

/** Where there is no terminal whose width is known. */
export const reportWidth = 100;

/** The reports of a running daemon, for those who ask for one over HTTP. */
export function createReportDesk(daemon: {
  readonly settings: () => Settings;
  readonly reader: StoreReader;
  readonly signal: AbortSignal;
}): ReportDesk {
  const find = (id: string): ReportOrder | null => {
    const settings = daemon.settings();
    const report = settings.reports.find((candidate) => candidate.id === id);
    return report === undefined ? null : { settings, report, reader: daemon.reader };
  };
  return {
    ids: () => daemon.settings().reports.map(({ id }) => id),
    async compose(id) {
      const order = find(id);
      return order && renderReport(await composeReport(order), reportWidth);
    },
    async send(id) {
      const order = find(id);
      return order && sendReport(order, daemon.signal);
    },
  };
}

/** Opens one channel for as long as `use` takes. */
export async function withChannel<T>(
  { settings, channel }: { readonly settings: Settings; readonly channel: ChannelSettings },
  use: (open: Channel) => Promise<T>,
): Promise<T> {
  const [{ createChannel }, texts] = await Promise.all([
    import('../channels/registry.ts'),
    textsFor(settings),
  ]);
  const open = createChannel(channel, { clock: systemClock, texts });
  try {
    return await use(open);
  } finally {
    await open.close();
  }
}

/** What the texts of others are held against: every secret of the settings. */
export async function textsFor(settings: Settings): Promise<ForeignTexts> {
  const { listSecretTexts } = await import('../daemon/known-secrets.ts');
  return createForeignTexts(listSecretTexts(settings));
}
