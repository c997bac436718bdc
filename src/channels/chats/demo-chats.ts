import { createHash } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { keyOf, parseJson } from '../../domain/json.ts';
import { startHttpService } from '../../net/http-service.ts';
import { type DemoReceiver, type ReceivedMessage, readCard } from '../demo-receiver.ts';
import preset from '../presets/telegram.json' with { type: 'json' };
import { readPressed } from './buttons.ts';

type Received = (message: ReceivedMessage) => void;

const person = { id: 'U0ONCALL', name: 'on-call', first_name: 'on-call' };
const chatId = '-100123';
const slackChannel = 'C0ALERTS';

/** Finds the newest button that acknowledges in what was posted. */
function acknowledgeIn(json: unknown): string | null {
  const values = JSON.stringify(json).matchAll(/"(?:value|callback_data)":"([^"]+)"/g);
  const found = [...values].map(([, data = '']) => data);
  return found.find((data) => readPressed(data)?.verb === 'acknowledge') ?? null;
}

async function startService(
  answer: (method: string, body: string, request: IncomingMessage) => Promise<object> | object,
  upgraded?: (socket: Socket, request: IncomingMessage) => void,
) {
  const serve = async (request: IncomingMessage, response: ServerResponse, body: string): Promise<void> => {
    const said = await answer((request.url ?? '').split('/').at(-1) ?? '', body, request);
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(said));
  };
  const { server, ...service } = await startHttpService(
    { port: 0, host: '127.0.0.1' },
    (request, response, body) => void serve(request, response, body ?? ''),
  );
  server.on('upgrade', (request, socket: Socket) => upgraded?.(socket, request));
  return service;
}

/** A Telegram in which somebody presses *Acknowledge*. */
export async function openTelegramDemo(received: Received): Promise<DemoReceiver> {
  let updates = 0;
  let waiting: ((given: readonly object[]) => void) | null = null;
  let newest: { readonly data: string; readonly message: object } | null = null;
  const service = await startService((method, body) => {
    const json = parseJson(body);
    const words = keyOf(json, 'text');
    const chat = { id: Number(chatId), type: 'supergroup' };
    if (method === 'getMe') return { ok: true, result: { id: 1, username: 'lowwater_bot' } };
    if (method === 'getUpdates' && Number(keyOf(json, 'timeout')) === 0) return { ok: true, result: [] };
    if (method === 'getUpdates')
      return new Promise<object>((resolve) => {
        waiting = (result) => resolve({ ok: true, result });
      });
    const reply_markup = keyOf(json, 'reply_markup');
    const buttons = JSON.stringify(reply_markup ?? {}).matchAll(/"text":"([^"]+)"/g);
    const row = [...buttons].map(([, label]) => `[${label}]`).join(' ');
    const kind = { sendMessage: '', answerCallbackQuery: '  to on-call' }[method] ?? '  (edited)';
    received({ title: `Telegram${kind}`, lines: `${words}\n${row}`.trim().split('\n') });
    const data = acknowledgeIn(json);
    if (data !== null) newest = { data, message: { message_id: 1, chat, text: words, reply_markup } };
    return { ok: true, result: { message_id: 1, chat } };
  });
  return {
    channel: {
      type: preset.type,
      botToken: '123456789:AAFdemo-token-of-a-bot-in-the-demo-0123',
      chatId,
      baseUrl: service.url,
      listen: true,
    },
    press() {
      if (newest === null || waiting === null) return false;
      waiting([{ update_id: ++updates, callback_query: { id: String(updates), from: person, ...newest } }]);
      return true;
    },
    close: service.close,
  };
}

/** A Slack in which somebody presses *Acknowledge*, by Socket Mode. */
export async function openSlackDemo(slackType: string, received: Received): Promise<DemoReceiver> {
  let posts = 0;
  let socket: Socket | null = null;
  let newest: { readonly data: string; readonly ts: string } | null = null;
  const service = await startService(
    (method, body, { headers }) => {
      const fields = new URLSearchParams(body);
      if (method === 'apps.connections.open') return { ok: true, url: `ws://${headers.host}/link` };
      const ts = fields.get('ts') ?? `1795200000.${String(++posts).padStart(6, '0')}`;
      const json = { text: fields.get('text'), attachments: parseJson(fields.get('attachments') ?? '[]') };
      const kind = { 'chat.update': '  (edited)', 'chat.postEphemeral': '  to on-call' }[method] ?? '';
      received({ title: `Slack  #alerts${kind}`, lines: readCard(json) });
      const data = acknowledgeIn(json);
      if (data !== null) newest = { data, ts };
      return { ok: true, channel: slackChannel, ts };
    },
    (opened, { headers }) => {
      const key = `${headers['sec-websocket-key']}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`;
      const accept = createHash('sha1').update(key).digest('base64');
      opened.on('error', () => undefined);
      opened.write(
        `HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ${accept}\r\n\r\n`,
      );
      socket = opened;
      sendFrame(opened, { type: 'hello' });
    },
  );
  return {
    channel: {
      type: slackType,
      botToken: 'xoxb-demo-token',
      appToken: 'xapp-demo-token',
      channel: slackChannel,
      apiUrl: `${service.url}/api`,
    },
    press() {
      if (newest === null || socket === null) return false;
      const { data: value, ts } = newest;
      const actions = [{ type: 'button', value, action_ts: String(posts) }];
      const payload = {
        type: 'block_actions',
        user: person,
        channel: { id: slackChannel },
        message: { ts },
        actions,
      };
      sendFrame(socket, { envelope_id: `e-${posts}`, type: 'interactive', payload });
      return true;
    },
    async close() {
      socket?.destroy();
      await service.close();
    },
  };
}

/** Sends one text frame of a server (RFC 6455, 5.2). */
function sendFrame(socket: Socket, message: object): void {
  const data = Buffer.from(JSON.stringify(message));
  const head = data.length < 126 ? [0x81, data.length] : [0x81, 126, data.length >> 8, data.length & 0xff];
  socket.write(Buffer.concat([Buffer.from(head), data]));
}
