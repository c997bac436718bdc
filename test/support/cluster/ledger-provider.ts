import { listenHttp, send } from '../loopback-provider.ts';

/** A provider whose every answer is another amount, so that what was stored can be held against what was said. */
export interface LedgerProvider {
  readonly url: string;
  /** The whole part of all balances from now on. */
  level: number;
  /** The millionths of every answer so far, in order, with when it was given. */
  readonly said: readonly { readonly micros: number; readonly at: number; readonly secret: string }[];
  close(): Promise<void>;
}

export async function startLedgerProvider(level: number): Promise<LedgerProvider> {
  const said: { micros: number; at: number; secret: string }[] = [];
  const provider = { level };
  const listening = await listenHttp((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const { authSecret } = JSON.parse(Buffer.concat(chunks).toString()) as { readonly authSecret: string };
      const micros = provider.level * 1_000_000 + said.length + 1;
      said.push({ micros, at: Date.now(), secret: authSecret });
      const sms = (micros / 1_000_000).toFixed(6);
      send(response, {
        body: `{"msg":"SUCCESS","code":200,"result":{"smsBalance":${sms},"voipBalance":0,"currency":"CNY"}}`,
        headers: { 'content-type': 'application/json' },
      });
    });
  });
  return {
    url: listening.url,
    get level() {
      return provider.level;
    },
    set level(next) {
      provider.level = next;
    },
    said,
    close: listening.close,
  };
}
