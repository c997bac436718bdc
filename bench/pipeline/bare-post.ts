/**
 * What the pipeline is measured against: bare POSTs by undici's `request`, the body read as text and parsed, as many at once as
 * the second argument says, until it is killed. Run by bench/pipeline.ts: node bench/pipeline/bare-post.ts URL AT-ONCE ACCOUNTS
 */
import { Agent, request } from 'undici';
import { accountSecret } from './accounts.ts';

const [, , url = '', atOnce = '', accounts = ''] = process.argv;
const dispatcher = new Agent();
const headers = { 'content-type': 'application/json' };
let next = 0;

for (let worker = 0; worker < Number(atOnce); worker++) void post();

async function post(): Promise<never> {
  for (;;) {
    const authSecret = accountSecret(next++ % Number(accounts));
    const body = JSON.stringify({ authSecret });
    const answer = await request(`${url}/user/account/balance`, {
      method: 'POST',
      headers,
      body,
      dispatcher,
    });
    const parsed: unknown = JSON.parse(await answer.body.text());
    if (Reflect.get(Object(parsed), 'code') !== 200) throw new Error(`HTTP ${answer.statusCode}`);
  }
}
