import type { ReportOrder, Rooms } from '../cli/context.ts';
import type { ForeignTexts } from '../domain/foreign-text.ts';
import type { Message } from '../domain/message.ts';
import type { ChannelSettings, Settings } from '../domain/settings.ts';
import type { Channel } from '../ports/channel.ts';
import type { StoreReader } from '../ports/store.ts';
import { systemClock } from '../system/clock.ts';
import { systemRandom } from '../system/random.ts';
import type { ProcessLog } from './process-log.ts';

type LiveRooms = Pick<
  Rooms,
  | 'runDaemon'
  | 'runDemo'
  | 'listChannelTypes'
  | 'channelAt'
  | 'checkAccounts'
  | 'sendTest'
  | 'renderReport'
  | 'describeReport'
  | 'sendReport'
>;

/** Where there is no terminal whose width is known. */
const reportWidth = 100;

/** The parts of the house that talk to the outside: daemon, provider, channels. */
export function createLiveRooms({
  log,
  version,
}: {
  readonly log: ProcessLog;
  readonly version: string;
}): LiveRooms {
  const program = `lowwater ${version}`;
  return {
    async runDaemon({ file, settings, secrets, warnings, sources }, signal) {
      const [{ serve }, { logWarnings, openConfigurationFile }] = await Promise.all([
        import('./serve.ts'),
        import('./configuration-file.ts'),
      ]);
      const opened = await log.open(settings.log.level);
      logWarnings(opened, warnings);
      await serve({
        file: openConfigurationFile(file, log),
        settings,
        secrets,
        sources,
        log: opened,
        version,
        signal,
      });
    },
    async runDemo(order) {
      const { runDemo } = await import('./demo/run-demo.ts');
      await runDemo({ ...order, version, log });
    },
    async channelAt(text) {
      const { channelKinds } = await import('../channels/registry.ts');
      const address = URL.parse(text);
      if (address === null) return null;
      const found = channelKinds.flatMap((kind) => {
        const its = kind.keysAt?.(address) ?? null;
        return its === null ? [] : [{ type: kind.type, ...its }];
      });
      const best = found.find(({ isCertain }) => isCertain) ?? found[0];
      return best === undefined ? null : { type: best.type, ...best.keys };
    },
    async listChannelTypes() {
      const { channelKinds } = await import('../channels/registry.ts');
      return channelKinds.map(({ type }) => type);
    },
    checkAccounts: (order) => checkAccounts(order, program),
    async sendTest({ settings, channel, signal }) {
      const { sendTest } = await import('../views/send-now.ts');
      return withChannel({ settings, channel }, (open) =>
        sendTest(open, { settings, now: systemClock.now(), id: systemRandom.id(), signal }),
      );
    },
    async renderReport(order) {
      const [message, { renderText }] = await Promise.all([
        composeReport(order, program),
        import('../messages/render-text.ts'),
      ]);
      return `${renderText(message, process.stdout.columns || reportWidth)}\n`;
    },
    async describeReport(order) {
      const [message, { renderWebhookPayload }] = await Promise.all([
        composeReport(order, program),
        import('../channels/webhook/webhook-payload.ts'),
      ]);
      return renderWebhookPayload(message);
    },
    async sendReport(order) {
      const message = await composeReport(order, program);
      const channels = order.settings.channels.filter(({ name }) => order.report.channels.includes(name));
      const send = async (channel: ChannelSettings) => {
        const delivery = await withChannel({ settings: order.settings, channel }, (open) =>
          open.send(message, order.signal),
        );
        return { channel: channel.name, delivery };
      };
      return Promise.all(channels.map(send));
    },
  };
}

async function checkAccounts(
  { settings, account, signal }: Parameters<Rooms['checkAccounts']>[0],
  program: string,
): ReturnType<Rooms['checkAccounts']> {
  const [{ checkAccounts: check }, { createProviderClient }, { cronCalendar }, texts] = await Promise.all([
    import('../views/check.ts'),
    import('../providers/transport/client.ts'),
    import('../system/calendar.ts'),
    textsFor(settings),
  ]);
  const provider = createProviderClient({
    ...settings.provider,
    texts,
    clock: systemClock,
  });
  const reader = await openReaderIfThere(settings, program);
  const adapters = { clock: systemClock, random: systemRandom, calendar: cronCalendar };
  try {
    return await check({ settings, account, provider, reader, signal, ...adapters });
  } finally {
    await reader.close();
    await provider.close();
  }
}

/** A check works without a database: rules that look back say that they know too little. */
async function openReaderIfThere({ storage }: Settings, program: string): Promise<StoreReader> {
  const [{ existsSync }, { emptyReader }, { openConfigured }] = await Promise.all([
    import('node:fs'),
    import('../views/empty-reader.ts'),
    import('../store/store.ts'),
  ]);
  if (storage.path !== undefined && !existsSync(storage.path)) return emptyReader;
  return openConfigured(storage, { program, now: systemClock.now });
}

async function composeReport({ settings, report }: ReportOrder, program: string): Promise<Message> {
  const [{ composeReportNow }, { cronCalendar }] = await Promise.all([
    import('../views/send-now.ts'),
    import('../system/calendar.ts'),
  ]);
  const reader = await openReaderIfThere(settings, program);
  const adapters = { clock: systemClock, random: systemRandom, calendar: cronCalendar };
  try {
    return await composeReportNow({ settings, report, reader, ...adapters });
  } finally {
    await reader.close();
  }
}

async function textsFor(settings: Settings): Promise<ForeignTexts> {
  const [{ createForeignTexts }, { listSecretTexts }] = await Promise.all([
    import('../domain/foreign-text.ts'),
    import('../daemon/known-secrets.ts'),
  ]);
  return createForeignTexts(listSecretTexts(settings));
}

async function withChannel<T>(
  { settings, channel }: { readonly settings: Settings; readonly channel: ChannelSettings },
  use: (open: Channel) => Promise<T>,
): Promise<T> {
  const [{ createChannel }, texts] = await Promise.all([
    import('../channels/create-channel.ts'),
    textsFor(settings),
  ]);
  const open = createChannel(channel, { clock: systemClock, texts });
  try {
    return await use(open);
  } finally {
    await open.close();
  }
}
