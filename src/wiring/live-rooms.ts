import type { Rooms } from '../cli/context.ts';
import { isLoopbackHost } from '../domain/addresses.ts';
import type { Settings } from '../domain/settings.ts';
import type { StoreReader } from '../ports/store.ts';
import { systemClock } from '../system/clock.ts';
import { systemRandom } from '../system/random.ts';
import type { ProcessLog } from './process-log.ts';

type LiveRooms = Pick<
  Rooms,
  'runDaemon' | 'runDemo' | 'checkAccounts' | 'sendTest' | 'renderReport' | 'sendReport'
>;

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
      if (process.env.LOWWATER_IMAGE) opened.info(describePage(settings), 'lowwater starts in a container');
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
    checkAccounts: (order) => checkAccounts(order, program),
    async sendTest({ settings, channel, signal }) {
      const [{ sendTest }, { withChannel }] = await Promise.all([
        import('../views/send-now.ts'),
        import('./report-now.ts'),
      ]);
      return withChannel({ settings, channel }, (open) =>
        sendTest(open, { settings, now: systemClock.now(), id: systemRandom.id(), signal }),
      );
    },
    renderReport: (order) =>
      withReader(order.settings, program, async (reader) => {
        const { composeReport, renderReport, reportWidth } = await import('./report-now.ts');
        const message = await composeReport({ ...order, reader });
        return renderReport(message, process.stdout.columns || reportWidth);
      }),
    sendReport: (order) =>
      withReader(order.settings, program, async (reader) => {
        const { sendReport } = await import('./report-now.ts');
        return sendReport({ ...order, reader }, order.signal);
      }),
  };
}

/** Where the page of a container is, and what keeps people from reaching it. */
function describePage({ server }: Settings): {
  readonly page: string | null;
  readonly missing: readonly string[];
} {
  if (server === null) return { page: null, missing: ['"server" is null: there is no page'] };
  const missing = [
    ...(isLoopbackHost(server.host)
      ? ['"server": { "host": "0.0.0.0" }: the page answers inside the container alone']
      : []),
    ...(server.token === null
      ? [`"server": { "token": "\${env:LOWWATER_TOKEN}" }: nobody else may see it without`]
      : []),
  ];
  const { publicUrl, port } = server;
  return {
    page: publicUrl ?? `port ${port} of the container, as it is published (-p ${port}:${port})`,
    missing,
  };
}

async function checkAccounts(
  { settings, account, signal, explain }: Parameters<Rooms['checkAccounts']>[0],
  program: string,
): ReturnType<Rooms['checkAccounts']> {
  const [
    { checkAccounts: check },
    { createEntryClients },
    { describeExchange },
    { cronCalendar },
    { textsFor },
  ] = await Promise.all([
    import('../views/check.ts'),
    import('../providers/transport/entry-clients.ts'),
    import('../providers/describe-exchange.ts'),
    import('../system/calendar.ts'),
    import('./report-now.ts'),
  ]);
  const provider = createEntryClients(settings, {
    texts: await textsFor(settings),
    clock: systemClock,
    ...(explain === undefined ? {} : { observe: (seen) => explain(describeExchange(seen)) }),
  });
  const adapters = { clock: systemClock, random: systemRandom, calendar: cronCalendar };
  try {
    return await withReader(settings, program, (reader) =>
      check({ settings, account, provider, reader, signal, ...adapters }),
    );
  } finally {
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

async function withReader<T>(
  settings: Settings,
  program: string,
  use: (reader: StoreReader) => Promise<T>,
): Promise<T> {
  const reader = await openReaderIfThere(settings, program);
  try {
    return await use(reader);
  } finally {
    await reader.close();
  }
}
