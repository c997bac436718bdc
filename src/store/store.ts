/** The front door of the store: what the rest of the program opens. */
export { openStore } from './sqlite/open-store.ts';
export { leaveOrder } from './sqlite/orders.ts';
export { describeHolder, type Holder, nameHolder } from './sqlite/owner.ts';
export { openSqlFile } from './sqlite/query.ts';
export { openReader } from './sqlite/reader.ts';
