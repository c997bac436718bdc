import { createHash } from 'node:crypto';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';

export const appToken = 'xapp-1-A012-very-secret-app-token';
export const socketBotToken = 'xoxb-1111-2222-very-secret-bot-token';

const people = new Map([['U012AB3CD', { name: 'ada', real_name: 'Ada' }]]);
const ben = { name: 'ben', real_name: 'Ben' };

interface Call {
  readonly method: string;
  readonly fields: Readonly<Record<string, string>>;
}

/**
 * Slack as far as Socket Mode needs it, as strict as docs.slack.dev (Using Socket Mode; RFC 6455): an address that is good once, hello, envelopes
 * that are to be acknowledged within 3 s, and the methods by which a bot answers.
 */
export async function startSlackSocket() {
  const calls: Call[] = [];
  const acknowledged: string[] = [];
  const wrong: string[] = [];
  const sockets = new Set<Socket>();
  let tickets = 0;
  let unused = new Set<string>();
  let refusal: string | null = null;
  let isThreadGone = false;
  let strange: string | null = null;
  let envelopes = 0;
  /** The method that is never answered. */
  let hanging: string | null = null;
  /** How many of the next calls of a method are one too many. */
  const limited = new Map<string, number>();

  function answer(method: string, fields: Readonly<Record<string, string>>, token: string): object {
    if (method === 'apps.connections.open') {
      if (token !== appToken) return { ok: false, error: 'invalid_auth' };
      if (refusal !== null) return { ok: false, error: refusal };
      tickets += 1;
      unused.add(`/link/?ticket=${tickets}`);
      return { ok: true, url: strange ?? `ws://127.0.0.1:${port}/link/?ticket=${tickets}` };
    }
    if (token !== socketBotToken) return { ok: false, error: 'invalid_auth' };
    const required = {
      'chat.postMessage': ['channel', 'text'],
      'chat.postEphemeral': ['channel', 'user', 'text'],
      'views.open': ['trigger_id', 'view'],
      'users.info': ['user'],
    }[method];
    const missing =
      required?.find((name) => (fields[name] ?? '') === '' || fields[name] === 'expired') ??
      (required ? null : method);
    if (missing !== null) {
      wrong.push(`${method} without ${missing}`);
      return { ok: false, error: 'invalid_arguments' };
    }
    return method === 'users.info'
      ? { ok: true, user: people.get(fields.user ?? '') ?? ben }
      : { ok: true, ts: '1795200001.000100' };
  }

  const server = createServer((request, response) => {
    void bodyOf(request).then((body) => {
      const fields = Object.fromEntries(new URLSearchParams(body));
      const method = (request.url ?? '').replace('/api/', '');
      calls.push({ method, fields });
      if (method === hanging) return;
      const left = limited.get(method) ?? 0;
      limited.set(method, left - 1);
      if (left > 0) {
        response.writeHead(429, { 'retry-after': '1' }).end('{"ok":false,"error":"ratelimited"}');
        return;
      }
      const token = (request.headers.authorization ?? '').replace('Bearer ', '');
      const gone = isThreadGone && fields.thread_ts !== undefined;
      const said = gone ? { ok: false, error: 'thread_not_found' } : answer(method, fields, token);
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(said));
    });
  });
  server.on('upgrade', (request, socket: Socket) => {
    const key = request.headers['sec-websocket-key'] ?? '';
    if (!unused.delete(request.url ?? '')) {
      socket.end('HTTP/1.1 404 Not Found\r\n\r\n');
      return;
    }
    const accept = createHash('sha1').update(`${key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`).digest('base64');
    socket.write(
      `HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ${accept}\r\n\r\n`,
    );
    sockets.add(socket);
    let buffered = Buffer.alloc(0);
    socket.on('error', () => undefined);
    socket.on('close', () => sockets.delete(socket));
    socket.on('data', (chunk) => {
      buffered = Buffer.concat([buffered, chunk]);
      for (let frame = readFrame(buffered); frame !== null; frame = readFrame(buffered)) {
        buffered = buffered.subarray(frame.length);
        if (frame.opcode === 8) socket.end();
        if (frame.opcode === 1) acknowledged.push(String(JSON.parse(frame.text).envelope_id));
      }
    });
    send(socket, { type: 'hello', num_connections: 1, debug_info: { approximate_connection_time: 18060 } });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;

  /** Sends an envelope to whoever is connected; its id. */
  function envelope(
    type: 'interactive' | 'events_api',
    payload: object,
    id = `envelope-${++envelopes}`,
    retry = 0,
  ): string {
    const form = { accepts_response_payload: type === 'interactive', retry_attempt: retry };
    for (const socket of sockets) send(socket, { envelope_id: id, type, ...form, payload });
    return id;
  }

  return {
    url: `http://127.0.0.1:${port}/api`,
    calls,
    acknowledged,
    wrong,
    envelope,
    get connections() {
      return sockets.size;
    },
    /** How often an address was asked for. */
    get tickets() {
      return tickets;
    },
    refuse(error: string | null) {
      refusal = error;
    },
    limit: (method: string, times = 1) => void limited.set(method, times),
    hang(method: string | null) {
      hanging = method;
    },
    /** Somebody deleted what the answers hang on. */
    removeThread() {
      isThreadGone = true;
    },
    /** Another address than that of the socket. */
    hand(address: string | null) {
      strange = address;
    },
    /** As Slack does before it closes a connection. */
    disconnect(reason = 'refresh_requested') {
      for (const socket of sockets) send(socket, { type: 'disconnect', reason });
    },
    /** As Slack does every few seconds. */
    ping() {
      for (const socket of sockets) socket.write(Buffer.from([0x89, 0]));
    },
    drop() {
      for (const socket of sockets) socket.destroy();
      unused = new Set();
    },
    of: (method: string) => calls.filter((call) => call.method === method).map(({ fields }) => fields),
    async close() {
      for (const socket of sockets) socket.destroy();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

export type SlackSocket = Awaited<ReturnType<typeof startSlackSocket>>;

/** What Slack sends when a button or a menu of a message is used. */
export function blockActions(data: string, over: Readonly<Record<string, unknown>> = {}): object {
  return {
    type: 'block_actions',
    user: { id: 'U012AB3CD', username: 'ada', name: 'ada' },
    channel: { id: 'C012AB3CD', name: 'alerts' },
    message: { ts: '1795200000.000100' },
    trigger_id: '12345.98765.abcd2358fdea',
    actions: [
      { type: 'button', action_id: 'lowwater-press-acknowledge', value: data, action_ts: '1795200009.1' },
    ],
    ...over,
  };
}

/** What Slack sends when somebody mentions the bot. */
export function mention(text: string, over: Readonly<Record<string, unknown>> = {}): object {
  const event = {
    type: 'app_mention',
    user: 'U0BEN',
    text: `<@UBOT> ${text}`,
    channel: 'C012AB3CD',
    ...over,
  };
  return { type: 'event_callback', event_id: `Ev-${text}`, event: { ts: '1795200010.000200', ...event } };
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
}

function send(socket: Socket, message: object): void {
  const text = Buffer.from(JSON.stringify(message));
  const head =
    text.length < 126
      ? Buffer.from([0x81, text.length])
      : Buffer.from([0x81, 126, text.length >> 8, text.length & 0xff]);
  socket.write(Buffer.concat([head, text]));
}

/** One masked frame of a client; null while it is not whole. */
function readFrame(
  bytes: Buffer,
): { readonly opcode: number; readonly text: string; readonly length: number } | null {
  if (bytes.length < 6) return null;
  const short = (bytes[1] ?? 0) & 0x7f;
  const start = short === 126 ? 8 : 6;
  const size = short === 126 ? bytes.readUInt16BE(2) : short;
  if (bytes.length < start + size) return null;
  const mask = bytes.subarray(start - 4, start);
  const text = bytes.subarray(start, start + size).map((byte, index) => byte ^ (mask[index % 4] ?? 0));
  return { opcode: (bytes[0] ?? 0) & 0x0f, text: Buffer.from(text).toString(), length: start + size };
}
