import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { type Command, exitCodes, UsageError } from '../command.ts';
import { loadForOperator } from '../load-configuration.ts';
import { openReader } from '../open-reader.ts';

export const backupCommand: Command = {
  name: 'backup',
  summary: 'consistent copy of the live database',
  details: `Works while the daemon runs. The copy is one file. To restore: stop the daemon, put the copy in the place of the database,
remove the -wal and -shm files next to it, start the daemon.

A PostgreSQL database is copied by its own tools (pg_dump), and this command says how.`,
  positionals: [{ name: 'FILE', summary: 'the copy; must not exist yet' }],
  examples: ['lowwater backup /backup/lowwater-$(date +%F).db'],
  run: async (context, input) => {
    const file = resolve(context.cwd, input.positional('FILE'));
    if (existsSync(file)) throw new UsageError(`${file} exists; a backup never overwrites a file`);
    const { settings } = await loadForOperator(context, input);
    const reader = await openReader(context, settings.storage);
    try {
      await reader.backup(file);
    } finally {
      await reader.close();
    }
    await context.stderr.write(`${settings.storage.path ?? 'the database'} copied to ${file}\n`);
    return exitCodes.ok;
  },
};
