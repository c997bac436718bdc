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

/** The page of a running daemon, over changes of its settings. */
export interface LivePage {
  /** Null without a server. */
  readonly url: string | null;
  /**
   * Listens by these settings from now on. Rejects when the address cannot be listened on; the page stays
   * where it was then, and the next call tries again.
   */
  follow(settings: Pick<Settings, 'server' | 'timezone'>): Promise<void>;
  close(): Promise<void>;
}

/** A page that does not listen yet. `listen` starts a server and rejects when it cannot. */
export function createLivePage(listen: (settings: PageSettings) => Promise<PageServer>): LivePage {
  let open: { readonly settings: PageSettings; readonly server: PageServer } | null = null;

  async function shut(): Promise<void> {
    const closing = open;
    open = null;
    await closing?.server.close();
  }

  async function listenBy(settings: PageSettings): Promise<void> {
    open = { settings, server: await listen(settings) };
  }

  async function move(before: PageSettings, settings: PageSettings): Promise<void> {
    if (!sameAddress(before.server, settings.server)) {
      const server = await listen(settings);
      await shut();
      open = { settings, server };
      return;
    }
    // Two servers cannot listen on one address: the old one makes way, and comes back where the new one fails.
    await shut();
    try {
      await listenBy(settings);
    } catch (error) {
      await listenBy(before);
      throw error;
    }
  }

  return {
    get url() {
      return open?.server.url ?? null;
    },
    async follow({ server, timezone }) {
      if (server === null) return shut();
      const settings = { server, timezone };
      if (open === null) return listenBy(settings);
      if (!sameSettings(open.settings, settings)) await move(open.settings, settings);
    },
    close: shut,
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
