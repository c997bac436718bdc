import { connect, createServer, type Socket } from 'node:net';

/** Stands between a program and a server, and breaks what goes through as it is told. */
export interface TcpProxy {
  readonly port: number;
  /** The port that new connections lead to. */
  target: number;
  /**
   * `pass`: everything goes through. `mute`: what the server says is swallowed, and what it is told arrives. `cut`: connections break,
   * and new ones are refused. `hang`: nothing goes through, and nobody is told.
   */
  mode: 'pass' | 'mute' | 'cut' | 'hang';
  /** Breaks all connections now. */
  breakAll(): void;
  close(): Promise<void>;
}

export async function startTcpProxy(first: number): Promise<TcpProxy> {
  let target = first;
  const sockets = new Set<Socket>();
  const keep = (socket: Socket): void => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.on('close', () => sockets.delete(socket));
  };
  let mode: TcpProxy['mode'] = 'pass';
  const breakAll = (): void => {
    for (const socket of sockets) socket.resetAndDestroy();
  };
  const server = createServer((near) => {
    if (mode === 'cut') {
      near.resetAndDestroy();
      return;
    }
    const far = connect(target, '127.0.0.1');
    keep(near);
    keep(far);
    near.on('data', (bytes) => mode !== 'hang' && far.write(bytes));
    far.on('data', (bytes) => mode === 'pass' && near.write(bytes));
    near.on('close', () => far.destroy());
    far.on('close', () => near.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return {
    port: address.port,
    get target() {
      return target;
    },
    set target(next) {
      target = next;
    },
    get mode() {
      return mode;
    },
    set mode(next) {
      mode = next;
      if (next === 'cut') breakAll();
    },
    breakAll,
    async close() {
      breakAll();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
