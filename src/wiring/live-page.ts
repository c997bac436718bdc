import { isLoopbackHost } from '../domain/addresses.ts';
import type { ServerSettings, Settings } from '../domain/settings.ts';
import type { HttpService } from '../net/http-service.ts';

type PageServer = Pick<HttpService, 'url' | 'close'>;

/** The settings on which the page depends. */
interface PageSettings extends Pick<Settings, 'timezone' | 'language'> {
  readonly server: ServerSettings;
}

interface OpenPage {
  readonly settings: PageSettings;
  readonly server: PageServer;
}

/** The page of a running daemon, which follows changes of the settings. It does not listen yet. `listen` starts a server; it rejects if it cannot. */
export function createLivePage(listen: (settings: PageSettings) => Promise<PageServer>) {
  let open: OpenPage | null = null;
  const close = async (): Promise<void> => {
    const closing = open;
    open = null;
    await closing?.server.close();
  };
  return {
    /** Null without a server. */
    get url(): string | null {
      return open?.server.url ?? null;
    },
    /** Rejects if the server cannot listen on the address. The page then stays where it was, and the next call tries again. */
    async follow(next: Pick<Settings, 'server' | 'timezone' | 'language'>): Promise<void> {
      const { server, timezone, language } = next;
      if (server === null) return close();
      const [before, settings] = [open, { server, timezone, language }];
      if (before !== null && sameSettings(before.settings, settings)) return;
      // Two servers cannot listen on one address: the old one closes first, and is opened again if the new one fails.
      const makesWay = before !== null && sameAddress(before, server);
      const port = makesWay ? portOf(before) : server.port;
      const reopen = (page: PageSettings) => listen({ ...page, server: { ...page.server, port } });
      if (makesWay) await close();
      try {
        const made = await reopen(settings);
        await close();
        open = { settings, server: made };
      } catch (error) {
        if (makesWay) open = { settings: before.settings, server: await reopen(before.settings) };
        throw error;
      }
    },
    close,
  };
}

/** A port that the system chose stays in use as long as the file leaves the choice to the system. */
function portOf({ settings, server }: OpenPage): number {
  return settings.server.port || Number(new URL(server.url).port);
}

/** Also true if the file now names the port that the system chose. */
function sameAddress(before: OpenPage, { host, port }: ServerSettings): boolean {
  const { server } = before.settings;
  return server.host === host && (server.port === port || portOf(before) === port);
}

/** Compares the token separately, because JSON hides it. */
function sameSettings(before: PageSettings, after: PageSettings): boolean {
  const sameToken = before.server.token?.reveal() === after.server.token?.reveal();
  return sameToken && JSON.stringify(before) === JSON.stringify(after);
}

/** The address of a container's page, and what keeps people from reaching it, for the first lines of the log. */
export function describePage({ server }: Settings) {
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
