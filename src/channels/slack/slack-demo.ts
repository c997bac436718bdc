import { receivePosts } from '../listen-on-loopback.ts';
import type { SlackPayload } from './render-slack.ts';
import type { SlackBlock } from './slack-blocks.ts';
import { unescapeSlack } from './slack-text.ts';

/** Takes what Slack would take at an incoming webhook, and answers as Slack does. */
export const slackDemoReceiver = receivePosts({
  channel: (origin) => ({ type: 'slack', webhookUrl: `${origin}/services/DEMO` }),
  show: (body) => {
    // Nobody but the demo's own channel knows this address.
    const payload: SlackPayload = JSON.parse(body);
    return { title: 'Slack  #ops', lines: describeSlackPayload(payload) };
  },
  answer: { status: 200, body: 'ok' },
});

/** A Slack message as plain lines, in the order that Slack shows it: for the demo's receiver and the documentation. */
export function describeSlackPayload(payload: SlackPayload): readonly string[] {
  const blocks = (payload.attachments ?? []).flatMap((attachment) => attachment.blocks);
  return [payload.text, ...blocks.flatMap(describeBlock)].map(unescapeSlack);
}

function describeBlock(block: SlackBlock): readonly string[] {
  switch (block.type) {
    case 'section':
      return 'text' in block
        ? block.text.text.split('\n')
        : block.fields.map(({ text }) => describeField(text));
    case 'context':
      return block.elements.map(({ text }) => text);
    case 'actions':
      return [block.elements.map(({ text }) => `[${text.text}]`).join(' ')];
    case 'divider':
      return [''];
  }
}

/** `*Label*` and its value on the line below, as one line. */
function describeField(text: string): string {
  const [label = '', ...value] = text.split('\n');
  return `${label.replaceAll('*', '')}: ${value.join(' ')}`;
}
