import { IncomingWebhook } from '@slack/webhook';
import type { Secret } from '../../domain/secret.ts';
import type { HttpAnswer } from '../../net/http-answer.ts';
import { deliverWithin, openHttpConnections } from '../../net/http-post.ts';
import type { Accept } from '../answers.ts';
import { classifyAnswer } from '../answers.ts';
import { tryRender } from '../deliver-parts.ts';
import type { Sender, SenderDependencies } from '../kind.ts';
import type { Mention } from '../mention.ts';
import { renderSlack, renderSlackPlainly, type SlackPayload } from './render-slack.ts';
import { slackAnswers } from './slack-answers.ts';
import { callSlack, pause } from './slack-call.ts';

/** Slack takes one message a second per webhook (docs.slack.dev, rate limits). */
const gapMs = 1000;

export interface SlackWebhook {
  readonly webhookUrl: Secret;
  readonly accept: Accept | null;
}

/**
 * Posts to a Slack incoming webhook by Slack's own client. It retries nothing by itself but what Slack found unreadable, once, as
 * plain text.
 */
export function openSlackSender(
  { webhookUrl, mention, accept }: SlackWebhook & { readonly mention: Mention },
  { clock, texts, timeoutMs = 10_000 }: SenderDependencies & { readonly timeoutMs?: number },
): Sender {
  const table = slackAnswers(accept);
  const dispatcher = openHttpConnections(webhookUrl, { clock });
  const classify = (answer: HttpAnswer) => classifyAnswer(table, answer, { now: clock.now(), texts });
  return {
    async send(message, outer) {
      const blocks = tryRender(() => renderSlack(message, mention));
      if ('failed' in blocks) return blocks.failed;
      return deliverWithin({ clock, afterMs: timeoutMs, outer }, async (signal) => {
        const post = (payload: SlackPayload): Promise<HttpAnswer> =>
          callSlack({ signal, dispatcher, clock }, (fetch) =>
            new IncomingWebhook(webhookUrl.reveal(), { fetch }).send(payload),
          );
        const answer = await post(blocks.rendered);
        if (!isUnreadable(answer)) return classify(answer);
        await pause(clock, gapMs, signal);
        return classify(await post(renderSlackPlainly(message, mention)));
      });
    },
    preview: async (message) => JSON.stringify(renderSlack(message, mention)),
    close: () => dispatcher.destroy(),
  };
}

/** 400 is how Slack calls a payload invalid or too long, 413 how anything before it does. */
function isUnreadable(answer: HttpAnswer): boolean {
  return answer.status === 400 || answer.status === 413;
}
