import { type FetchFunction, IncomingWebhook } from '@slack/webhook';
import type { Secret } from '../../domain/secret.ts';
import { pause } from '../../net/deadline.ts';
import type { HttpAnswer } from '../../net/http-answer.ts';
import { deliverWithin, type HttpPost, openHttpConnections, postOnce } from '../../net/http-post.ts';
import { type Accept, classifyAnswer } from '../answers.ts';
import { tryRender } from '../deliver-parts.ts';
import type { Sender, SenderDependencies } from '../kind.ts';
import type { Mention } from '../mention.ts';
import { renderSlack, renderSlackPlainly, type SlackPayload } from './render-slack.ts';
import { slackAnswers } from './slack-answers.ts';

/** Slack takes one message a second per webhook (docs.slack.dev, rate limits). */
const gapMs = 1000;

/** The answer that Slack's client gets to each message. It is no `Response`, for which Node would load all of its `fetch`: 5 MB. */
const taken: Awaited<ReturnType<FetchFunction>> = {
  ok: true,
  status: 200,
  statusText: 'OK',
  url: '',
  headers: { get: () => null, entries: () => [] },
  arrayBuffer: async () => new ArrayBuffer(0),
  json: async () => null,
  text: async () => 'ok',
};

export interface SlackWebhook {
  readonly webhookUrl: Secret;
  readonly accept: Accept | null;
}

/** Posts to an incoming webhook by Slack's own client. A message that Slack found unreadable is sent again, as plain text. */
export function openSlackSender(
  { webhookUrl, mention, accept }: SlackWebhook & { readonly mention: Mention },
  { clock, texts, timeoutMs = 10_000 }: SenderDependencies,
): Sender {
  const table = slackAnswers(accept);
  const dispatcher = openHttpConnections(webhookUrl, { clock });
  const classify = (answer: HttpAnswer) => classifyAnswer(table, answer, { now: clock.now(), texts });
  const throughClient = async (
    payload: SlackPayload,
    post: (request: Pick<HttpPost, 'url' | 'headers' | 'body'>) => Promise<void>,
  ): Promise<void> => {
    const fetch: FetchFunction = async (address, { headers, body } = {}) => {
      if (typeof body !== 'string') throw new Error('Slack’s client posts something else than text.');
      await post({ url: String(address), headers: headers ?? {}, body });
      // The client drops parts of a refusal, such as how long to wait. It gets a good answer instead.
      return taken;
    };
    await new IncomingWebhook(webhookUrl.reveal(), { fetch }).send(payload);
  };
  return {
    async send(message, outer) {
      const blocks = tryRender(() => renderSlack(message, mention));
      if ('failed' in blocks) return blocks.failed;
      return deliverWithin({ clock, afterMs: timeoutMs, outer }, async (signal) => {
        const post = async (payload: SlackPayload): Promise<HttpAnswer> => {
          const answers: HttpAnswer[] = [];
          await throughClient(payload, async (request) => {
            answers.push(await postOnce({ ...request, signal, dispatcher, clock }));
          });
          const [answer] = answers;
          if (answer === undefined) throw new Error('Slack’s client did not post.');
          return answer;
        };
        const answer = await post(blocks.rendered);
        // Slack answers 400 to a payload that is invalid or too long; a server before Slack answers 413.
        if (answer.status !== 400 && answer.status !== 413) return classify(answer);
        await pause(clock, gapMs, signal);
        return classify(await post(renderSlackPlainly(message, mention)));
      });
    },
    async preview(message) {
      const payload = renderSlack(message, mention);
      // The client loads a good deal of Node with the first message of a process.
      await throughClient(payload, async () => undefined);
      return JSON.stringify(payload);
    },
    close: () => dispatcher.destroy(),
  };
}
