import { statSync } from 'node:fs';
import { afterAll, afterEach, beforeAll, beforeEach, expect } from 'vitest';
import { startDemoWorld } from './demo-world.ts';
import { type RunningServer, runServer } from './web-server.ts';
import type { World } from './world.ts';

/** The server before a team's morning. */
export interface Morning {
  /** One for all tests of the file, which leave it as it is; what `change` or `serve` gave while the test lasts that asked. */
  readonly server: RunningServer;
  /** A morning that the test may change. */
  change(): Promise<void>;
  /** Another world than a team's morning. */
  serve(world: World): Promise<void>;
}

/** To be called once a file: a morning costs more than most of what is asked of it. */
export function useMorning(): Morning {
  const ends: (() => void)[] = [];
  let shared: RunningServer;
  let server: RunningServer;
  let written = 0;
  const serve = async (world: World): Promise<void> => {
    if (server !== shared) await server.close();
    server = await runServer({ world });
  };
  beforeAll(async () => {
    shared = await runServer({ world: await startDemoWorld((end) => ends.push(end)) });
    written = writtenBy(shared);
  });
  beforeEach(() => {
    server = shared;
  });
  afterEach(async () => {
    if (server !== shared) await server.close();
    expect(writtenBy(shared), 'what changes the morning asks for one of its own').toBe(written);
  });
  afterAll(async () => {
    await shared.close();
    for (const end of ends) end();
  });
  return {
    get server() {
      return server;
    },
    change: async () => serve(await startDemoWorld()),
    serve,
  };
}

/** Grows with each order that is stored, and with the time that passes. */
function writtenBy({ world }: RunningServer): number {
  return statSync(`${world.path}-wal`).size + world.now;
}
