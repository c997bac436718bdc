import type { Store, StoreFile } from '../daemon/ports.ts';
import { openSqliteStore } from './sqlite/open-store.ts';
import { asStore, asStoreFile } from './sqlite/port.ts';
import { openSqliteReader } from './sqlite/reader.ts';

/** The front door of the store: what the rest of the program opens. */
export { leaveOrder } from './sqlite/orders.ts';
export { describeHolder, type Holder, nameHolder } from './sqlite/owner.ts';
export { openSqlFile } from './sqlite/query.ts';

/** As `openSqliteStore`, behind the port of the daemon. */
export function openStore(options: Parameters<typeof openSqliteStore>[0]): Store {
  return asStore(openSqliteStore(options));
}

/** As `openSqliteReader`, behind the port of who only reads. */
export function openReader(options: Parameters<typeof openSqliteReader>[0]): StoreFile {
  return asStoreFile(openSqliteReader(options));
}
