/**
 * What the pipeline is measured against: bare POSTs by undici's `request`, the body read as text and parsed, until it is killed.
 * Run by bench/pipeline.ts: node bench/pipeline/bare-post.ts URL ACCOUNTS at-once N (as many under way all the time), or
 * node bench/pipeline/bare-post.ts URL ACCOUNTS per-second N
 */
import { Agent, request } from 'undici';
import { accountSecret } from './accounts.ts';

const [, , url = '', accounts = '', pace = '', count = ''] = process.argv;
const dispatcher = new Agent();
const headers = { 'content-type': 'application/json' };
let next = 0;

if (pace === 'per-second') setInterval(() => void post(), 1000 / Number(count));
else for (let worker = 0; worker < Number(count); worker++) void postForever();

async function postForever(): Promise<never> {
  for (;;) await post();
}

async function post(): Promise<void> {
  const authSecret = accountSecret(next++ % Number(accounts));
  const body = JSON.stringify({ authSecret });
  const answer = await request(`${url}/user/account/balance`, { method: 'POST', headers, body, dispatcher });
  const parsed: unknown = JSON.parse(await answer.body.text());
  if (Reflect.get(Object(parsed), 'code') !== 200) throw new Error(`HTTP ${answer.statusCode}`);
}
