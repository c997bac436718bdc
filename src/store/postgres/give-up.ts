import { Socket } from 'node:net';
import type { PoolClient } from 'pg';

/** A server that has not taken the cancel request by then cannot be reached. */
const cancelMs = 2000;
/** Longer than PgBouncer waits for its server when it passes the request on (`cancel_wait_timeout`, `server_connect_timeout`). */
const passOnMs = 30_000;
/** After this, a server that cannot be reached has noticed that the connection is dead (`tcp_keepalives_*` of each connection). */
const unnoticedMs = 6000;
/** CancelRequest (https://www.postgresql.org/docs/current/protocol-message-formats.html) */
const cancelCode = 80_877_102;

/** Parts of a connection that are missing in the types of `pg`: the key by which its statement can be cancelled, and its socket. */
interface Cancellable {
  readonly host: string;
  readonly port: number;
  readonly processID: number | null;
  readonly secretKey: number | null;
  readonly connection: { readonly stream: Socket };
}

/** Resolves once the server has ended the statement, or noticed that the connection is gone. A dead standby has no time limit. */
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
 * Sends a cancel request as libpq does. It goes without TLS, because the server takes it from any client that knows the key. It goes to the
 * address of this connection: the name may lead to another server by now, and a lookup would hold a thread. The other side must close
 * first, once it has passed the request on: PgBouncer 1.18 ends with everybody's connections if the client closes (`bad client state`).
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

/** Null if the connection is not to a server with protocol version 3, or never got that far. */
function cancellableOf(client: PoolClient): Cancellable | null {
  const known: object = client;
  return 'processID' in known && typeof known.processID === 'number' && 'secretKey' in known
    ? (known as Cancellable)
    : null;
}
