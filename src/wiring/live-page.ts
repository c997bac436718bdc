import type { ServerSettings, Settings } from '../domain/settings.ts';

/** What the page of a running daemon listens with. */
export interface PageServer {
  readonly url: string;
  close(): Promise<void>;
}

/** The settings that a page listens and shows by. */
export interface PageSettings extends Pick<Settings, 'timezone'> {
  readonly server: ServerSettings;
}

/** The page of a running daemon, over changes of its settings; it does not listen yet. `listen` starts a server and rejects when it cannot. */
export function createLivePage(listen: (settings: PageSettings) => Promise<PageServer>) {
  let open: { readonly settings: PageSettings; readonly server: PageServer } | null = null;
  const close = async (): Promise<void> => {
    const closing = open;
    open = null;
    await closing?.server.close();
  };
  const openBy = async (settings: PageSettings): Promise<void> => {
    open = { settings, server: await listen(settings) };
  };
  return {
    /** Null without a server. */
    get url(): string | null {
      return open?.server.url ?? null;
    },
    /**
     * Listens by these settings from now on. Rejects when the address cannot be listened on; the page stays
     * where it was then, and the next call tries again.
     */
    async follow({ server, timezone }: Pick<Settings, 'server' | 'timezone'>): Promise<void> {
      if (server === null) return close();
      const [before, settings] = [open?.settings, { server, timezone }];
      if (before === undefined) return openBy(settings);
      if (sameSettings(before, settings)) return;
      if (!sameAddress(before.server, server)) {
        const made = await listen(settings);
        await close();
        open = { settings, server: made };
        return;
      }
      // Two servers cannot listen on one address: the old one makes way, and comes back where the new one fails.
      await close();
      await openBy(settings).catch(async (error: unknown) => {
        await openBy(before);
        throw error;
      });
    },
    close,
  };
}

function sameAddress(before: ServerSettings, after: ServerSettings): boolean {
  return before.host === after.host && before.port === after.port && after.port !== 0;
}

/** They differ by the token too, which JSON hides. */
function sameSettings(before: PageSettings, after: PageSettings): boolean {
  const sameToken = before.server.token?.reveal() === after.server.token?.reveal();
  return sameToken && JSON.stringify(before) === JSON.stringify(after);
}
