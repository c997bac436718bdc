import { Socket } from 'node:net';
import type { PoolClient } from 'pg';

/** A server that does not take the cancelling by then is not reached. */
const cancelMs = 2000;
/** Longer than PgBouncer waits for its server to pass it on (`cancel_wait_timeout`, `server_connect_timeout`). */
const passOnMs = 30_000;
/** After this a server that is not reached has noticed that nobody is at the other end (`tcp_keepalives_*` of each connection). */
const unnoticedMs = 6000;
/** CancelRequest (https://www.postgresql.org/docs/current/protocol-message-formats.html) */
const cancelCode = 80_877_102;

/** Parts of a connection that the types of `pg` leave out: the key by which its statement can be cancelled, and its socket. */
interface Cancellable {
  readonly host: string;
  readonly port: number;
  readonly processID: number | null;
  readonly secretKey: number | null;
  readonly connection: { readonly stream: Socket };
}

/** Resolves once the server has ended it, or noticed that the connection is gone: no limit holds for a dead standby. */
export async function giveUp(client: PoolClient): Promise<void> {
  const cancellable = cancellableOf(client);
  if (cancellable === null) return;
  const { stream } = cancellable.connection;
  const ended = new Promise<void>((resolve) => {
    client.once('drain', resolve);
    client.once('end', () => resolve());
    stream.once('close', () => resolve());
    stream.setTimeout(unnoticedMs, () => resolve());
  });
  await cancel(cancellable);
  await ended;
}

/**
 * Sends what libpq sends: without TLS, as the server takes it from any client that knows the key; and to the address of this connection: the
 * name may lead to another server by now, and looking it up would hold a thread. The other side closes, once it has passed it on: PgBouncer 1.18
 * ends by a client that closes before (`bad client state`), with the connections of everybody.
 */
function cancel({ host, port, processID, secretKey, connection }: Cancellable): Promise<void> {
  const { remoteAddress } = connection.stream;
  const request = Buffer.alloc(16);
  request.writeInt32BE(request.length, 0);
  request.writeInt32BE(cancelCode, 4);
  request.writeInt32BE(processID ?? 0, 8);
  request.writeInt32BE(secretKey ?? 0, 12);
  return new Promise((resolve) => {
    const socket = new Socket();
    socket.setTimeout(cancelMs, () => {
      resolve();
      socket.unref().setTimeout(passOnMs, () => socket.destroy());
    });
    socket.on('error', () => undefined);
    socket.on('close', () => resolve());
    if (host.startsWith('/')) socket.connect(`${host}/.s.PGSQL.${port}`);
    else if (remoteAddress === undefined) return resolve();
    else socket.connect(port, remoteAddress);
    socket.resume();
    socket.write(request);
  });
}

/** Null where the connection is not one of a server of version 3 of the protocol, or never got so far. */
function cancellableOf(client: PoolClient): Cancellable | null {
  const known: object = client;
  return 'processID' in known && typeof known.processID === 'number' && 'secretKey' in known
    ? (known as Cancellable)
    : null;
}
