import { plural } from '../domain/plain-text.ts';
import type { PostgresSettings, StorageSettings } from '../domain/settings.ts';
import { isoText } from '../domain/time.ts';
import type { ClusterLook } from '../ports/cluster.ts';
import type { LeftOrder, StoreFile } from '../ports/store.ts';
import type { FoundDamage } from '../store/store.ts';
import type { Leaving } from '../views/leave-orders.ts';
import type { CommandContext } from './context.ts';

/** The name of this program in a database. */
export function programOf({ version }: Pick<CommandContext, 'version'>): string {
  return `lowwater ${version}`;
}

/** Opens the database for reading, while a daemon may write to it. Throws `StorageError`. */
export async function openReader(context: CommandContext, storage: StorageSettings): Promise<StoreFile> {
  const { openConfigured } = await import('../store/store.ts');
  return openConfigured(storage, programOf(context), context.clock.now, damageWarner(context));
}

/** Opens the database for the duration of the work. Throws `StorageError`. */
export async function withReader<T>(
  context: CommandContext,
  storage: StorageSettings,
  use: (reader: StoreFile) => Promise<T>,
): Promise<T> {
  const reader = await openReader(context, storage);
  try {
    return await use(reader);
  } finally {
    await reader.close();
  }
}

/** The daemons that share a database. Throws `StorageError`. */
export async function lookAt(context: CommandContext, { url }: PostgresSettings): Promise<ClusterLook> {
  const { withSchema } = await import('../store/postgres/reader.ts');
  const { lookAround } = await import('../store/postgres/lease.ts');
  return withSchema(url, programOf(context), lookAround);
}

/** The programs that may take an order from the database. Throws `StorageError`. */
export async function findPrograms(
  context: CommandContext,
  storage: StorageSettings,
): Promise<Pick<Leaving, 'ownerProgram' | 'programs'>> {
  if (storage.postgres === undefined) {
    const { readOwnerProgram } = await import('../store/store.ts');
    return { ownerProgram: readOwnerProgram(storage.path), programs: [] };
  }
  const { members } = await lookAt(context, storage.postgres);
  return { ownerProgram: null, programs: members.map(({ program }) => program) };
}

/** Leaves an order in the database for the daemon. Throws `StorageError`. */
export async function leaveOrder(
  context: CommandContext,
  storage: StorageSettings,
  order: LeftOrder,
): Promise<void> {
  const { orderIn } = await import('../store/store.ts');
  await orderIn(storage, programOf(context), order);
}

/** Warns of damaged polls, with one line for each run however often it is read: they are left out of the answer. */
export function damageWarner({ stderr }: Pick<CommandContext, 'stderr'>) {
  const said = new Set<string>();
  return ({ account, earliestAt, latestAt, polls }: FoundDamage): void => {
    const span = [earliestAt, latestAt].map((at) => (at === null ? '?' : isoText(at))).join(' to ');
    const line = `warning: ${plural(polls, 'stored poll')} of ${account} (${span}) are damaged and left out\n`;
    if (!said.has(line)) void stderr.write(line);
    said.add(line);
  };
}
