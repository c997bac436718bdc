import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { env } from 'node:process';
import { listSecretTexts } from '../../daemon/known-secrets.ts';
import type { StorePlace } from '../../store/migrate-store.ts';
import { type Command, exitCodes, jsonOption, UsageError } from '../command.ts';
import type { CommandContext } from '../context.ts';
import { loadConfiguration } from '../load-configuration.ts';
import { programOf } from '../open-reader.ts';
import { printRows } from '../terminal/table.ts';

export const migrateStoreCommand: Command = {
  name: 'migrate-store',
  summary: 'copy everything into another database: from SQLite to PostgreSQL, or back',
  details: `Reads the database of the configuration and writes another one, which has to be empty: a PostgreSQL database, or a file that is
not there yet. Every daemon has to be stopped. What arrived is counted and compared before it is kept; the database that was read
stays as it is. Then set storage.postgres.url (or storage.path), and start the daemon.

An address may hold placeholders as the configuration does, so that no password stands in the list of processes.

--json prints {"tables":[{"name","rows","bytes"}]}.`,
  options: {
    to: { value: 'URL|FILE', summary: 'the other database, such as postgres://user:password@host/lowwater' },
    json: jsonOption,
  },
  examples: [`lowwater migrate-store --to '\${env:POSTGRES_URL}'`, 'lowwater migrate-store --to lowwater.db'],
  run: async (context, input) => {
    const to = input.option('to');
    if (to === null) throw new UsageError('--to is missing: the address of a PostgreSQL database, or a file');
    const { storage } = (await loadConfiguration(context, input)).settings;
    const { migrateStore } = await import('../../store/migrate-store.ts');
    const copied = await migrateStore({
      from: storage.postgres ?? storage,
      to: await readPlace(context, to),
      program: programOf(context),
      now: context.clock.now(),
    });
    await printRows(context, input, {
      rows: copied,
      none: '',
      json: () => ({ tables: copied }),
      columns: [
        { header: 'TABLE', value: ({ name }) => name },
        { header: 'ROWS', value: ({ rows }) => String(rows), align: 'right' },
        { header: 'BYTES', value: ({ bytes }) => String(bytes), align: 'right' },
      ],
    });
    const next = /^[^:]*:\/\/|^\$/.test(to) ? 'storage.postgres.url' : 'storage.path';
    await context.stderr.write(
      `All of it arrived. The database that was read is as it was; set ${next} for daemons to use the new one.\n`,
    );
    return exitCodes.ok;
  },
};

/** A database that a command names: an address with placeholders as in the configuration, so that no password has to be typed, or a file. */
async function readPlace({ process }: CommandContext, text: string): Promise<StorePlace> {
  const { interpolate } = await import('../../config/interpolate.ts');
  const filled = interpolate(text, {
    env: (name) => env[name],
    file(path) {
      try {
        return { kind: 'text', text: readFileSync(path, 'utf8') };
      } catch {
        return { kind: 'failed', reason: 'it cannot be read' };
      }
    },
  });
  if (filled.kind === 'failed') throw new UsageError(`--to: ${filled.messages.join('; ')}`);
  if (!/^[a-z]+:\/\//i.test(filled.text)) return { path: resolve(filled.text) };
  const { postgresAddress } = await import('../../schema/addresses.ts');
  const address = postgresAddress('').safeParse(filled.text);
  if (!address.success)
    throw new UsageError(`--to ${address.error.issues.map(({ message }) => message).join('; ')}`);
  await process.hide(listSecretTexts(address));
  return { url: address.data };
}
