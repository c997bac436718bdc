import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

export const telegramToken = '123456789:AAF1very-secret_token_of_a_bot_012345';

type Body = Readonly<Record<string, unknown>>;

/** A text is no JSON: the page of something else. */
interface Refusal {
  readonly status: number;
  readonly body: Body | string;
}

interface Call {
  readonly method: string;
  readonly body: Body;
}

/**
 * The Bot API as far as a bot needs it that posts, edits and asks for updates, as strict as core.telegram.org/bots/api: updates stay until an
 * offset beyond them confirms them, one long poll at a time, limits of texts and of `callback_data`.
 */
export async function startTelegramApi() {
  const calls: Call[] = [];
  const wrong: string[] = [];
  let updates: readonly (Body & { readonly update_id: number })[] = [];
  let lastUpdate = 100;
  let messages = 0;
  let waiting: (() => void) | null = null;
  let refusal: Refusal | null = null;
  let refusals = 0;
  let movedTo: number | null = null;
  const once = new Map<string, ReturnType<typeof refuse>>();

  function refuse(description: string, status = 400, more: Body = {}) {
    return { status, body: { ok: false, error_code: status, description, ...more } };
  }

  function takeRefusal() {
    if (refusals <= 0) refusal = null;
    refusals -= 1;
    return refusal;
  }

  async function giveUpdates({ offset, timeout, limit = 100 }: Body) {
    const refused = takeRefusal();
    if (refused !== null) return refused;
    if (waiting !== null) return refuse('Conflict: terminated by other getUpdates request', 409);
    if (typeof offset === 'number') updates = updates.filter(({ update_id }) => update_id >= offset);
    if (updates.length === 0 && Number(timeout) > 0)
      await new Promise<void>((resolve) => {
        waiting = resolve;
      });
    waiting = null;
    const interrupted = refusal && takeRefusal();
    if (interrupted !== null) return interrupted;
    return accept(updates.slice(0, Number(limit)));
  }

  async function answer(
    method: string,
    body: Body,
  ): Promise<{ readonly status: number; readonly body: object | string }> {
    if (method === 'getMe') return accept({ id: 1, is_bot: true, username: 'lowwater_bot' });
    if (method === 'getUpdates') return giveUpdates(body);
    const scripted = once.get(method);
    if (once.delete(method) && scripted !== undefined) return scripted;
    const problem = findWrong(method, body);
    if (problem !== null) {
      wrong.push(`${method}: ${problem}`);
      return refuse(`Bad Request: ${problem}`);
    }
    if (body.callback_query_id === 'query-old') return refuse('Bad Request: query is too old');
    if (movedTo !== null && method !== 'answerCallbackQuery' && String(body.chat_id) !== String(movedTo))
      return refuse('Bad Request: group chat was upgraded to a supergroup chat', 400, {
        parameters: { migrate_to_chat_id: movedTo },
      });
    return accept(
      method === 'answerCallbackQuery' ? true : { message_id: ++messages, chat: { id: body.chat_id } },
    );
  }

  const server = createServer((request, response) => {
    void (async () => {
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk as Buffer);
      const [, token, method = ''] =
        /^\/bot([^/]+)\/(\w+)$/.exec(decodeURIComponent(request.url ?? '')) ?? [];
      const body = JSON.parse(Buffer.concat(chunks).toString() || '{}');
      calls.push({ method, body });
      request.on('close', () => waiting?.());
      const said = token === telegramToken ? await answer(method, body) : refuse('Unauthorized', 401);
      response.writeHead(said.status, { 'content-type': 'application/json' });
      response.end(typeof said.body === 'string' ? said.body : JSON.stringify(said.body));
    })();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    calls,
    wrong,
    of: (method: string) => calls.filter((call) => call.method === method).map(({ body }) => body),
    get unconfirmed() {
      return updates.length;
    },
    /** Something happens: it is given to whoever asks, until it is confirmed. */
    update(update: Body): void {
      updates = [...updates, { update_id: ++lastUpdate, ...update }];
      waiting?.();
    },
    /** What getUpdates answers, so often; null: as usual. */
    refuse(answered: Refusal | null, times = Number.POSITIVE_INFINITY): void {
      refusal = answered;
      refusals = times;
      waiting?.();
    },
    /** The next call of the method is refused so. */
    refuseOnce(method: string, description: string, status = 400, more: Body = {}): void {
      once.set(method, refuse(description, status, more));
    },
    moveTo(chat: number): void {
      movedTo = chat;
    },
    async close() {
      waiting?.();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function accept(result: unknown) {
  return { status: 200, body: { ok: true, result } };
}

function findWrong(method: string, body: Body): string | null {
  const required = {
    getChat: ['chat_id'],
    sendMessage: ['chat_id', 'text'],
    editMessageText: ['chat_id', 'message_id', 'text'],
    answerCallbackQuery: ['callback_query_id'],
  }[method];
  const missing = required?.find((name) => body[name] === undefined);
  if (required === undefined || missing !== undefined) return `${missing ?? method} is missing or unknown`;
  const text = String(body.text ?? '');
  if (text.length > (method === 'answerCallbackQuery' ? 200 : 4096)) return 'MESSAGE_TOO_LONG';
  const buttons = /"callback_data":"([^"]*)"/g;
  const tooLong = [...JSON.stringify(body).matchAll(buttons)].some(([, data = '']) => data.length > 64);
  return tooLong ? 'BUTTON_DATA_INVALID' : null;
}

export const telegramGroup = { id: -100123, type: 'supergroup', title: 'Alerts' };
const ada = { id: 7, is_bot: false, first_name: 'Ada', last_name: 'L.' };

export function pressed(data: string, over: Body = {}): Body {
  const button = (text: string, callback: string) => ({ text, callback_data: callback });
  const inline_keyboard = [[button('Acknowledge', data), button('Why?', '6.1.other')]];
  const message = { message_id: 5, chat: telegramGroup, text: 'CRITICAL', reply_markup: { inline_keyboard } };
  return { callback_query: { id: 'query-1', from: ada, message, data, ...over } };
}

export function written(text: string, over: Body = {}): Body {
  return { message: { message_id: 9, date: 1_795_200_000, from: ada, chat: telegramGroup, text, ...over } };
}
