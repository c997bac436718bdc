import { composeReport } from '../daemon/compose-report.ts';
import { historyLoaderOf } from '../daemon/history-loader.ts';
import { periodStart } from '../daemon/reporting.ts';
import type { Message } from '../domain/message.ts';
import { newNotification } from '../domain/outbox.ts';
import type { ReportSettings, Settings } from '../domain/settings.ts';
import { startMonitor } from '../engine/restore.ts';
import type { Channel, Delivery } from '../ports/channel.ts';
import type { Calendar, Clock, Random } from '../ports/clock.ts';
import type { StoreReader } from '../ports/store.ts';

/** Sends a test message and gives the receiver's answer with what went out. */
export async function sendTest(
  channel: Channel,
  it: {
    readonly settings: Settings;
    readonly now: number;
    readonly id: string;
    readonly signal: AbortSignal;
  },
): Promise<{ readonly delivery: Delivery; readonly outgoing: string }> {
  const { settings, now, id, signal } = it;
  const publicUrl = settings.server?.publicUrl ?? null;
  const { timezone } = settings;
  const message = { kind: 'test', id, at: now, publicUrl, timezone, channel: channel.name } as const;
  return { delivery: await channel.send(message, signal), outgoing: await channel.preview(message) };
}

/** A report as it would go out now, over the time since its last run. */
export async function composeReportNow(parts: {
  readonly settings: Settings;
  readonly report: ReportSettings;
  readonly reader: StoreReader;
  readonly clock: Clock;
  readonly random: Random;
  readonly calendar: Calendar;
}): Promise<Message> {
  const { settings, report, reader, random, calendar } = parts;
  const now = parts.clock.now();
  const state = startMonitor({ settings, stored: await reader.load(), calendar, random, now });
  const historyLoader = historyLoaderOf(state, reader, () => now);
  const period = { id: report.id, since: periodStart(state, report, now), until: now };
  const envelope = newNotification({
    id: random.id(),
    channel: '',
    items: [],
    report: period,
    now,
    dueAt: now,
  });
  const frame = { state, reader, historyLoader, now: () => now, acknowledgeUrl: () => null };
  const message = await composeReport(frame, envelope);
  if (message === null) throw new Error('a report was not composed');
  return message;
}
