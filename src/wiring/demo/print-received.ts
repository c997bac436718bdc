import { describeSlackPayload } from '../../channels/slack/describe-payload.ts';
import type { SlackPayload } from '../../channels/slack/render-slack.ts';
import type { Style } from '../../cli/terminal/style.ts';
import type { ReceivedMail } from './receivers.ts';

const bar = '│';

/** A Slack message as lines: what its blocks say, without their looks. */
export function printSlack(payload: SlackPayload, style: Style): string {
  const lines = describeSlackPayload(payload);
  return frame({ title: 'Slack  #ops', lines, paint: style.blue, style });
}

export function printMail(mail: ReceivedMail, style: Style): string {
  const pictures =
    mail.pictures === 0
      ? []
      : ['', `(${mail.pictures === 1 ? 'a chart' : `${mail.pictures} charts`} inline)`];
  const lines = [style.bold(`Subject: ${mail.subject}`), '', ...mail.text.trimEnd().split('\n'), ...pictures];
  return frame({ title: `Email  to ${mail.to}`, lines, paint: style.green, style });
}

function frame(it: {
  readonly title: string;
  readonly lines: readonly string[];
  readonly paint: (text: string) => string;
  readonly style: Style;
}): string {
  const { title, lines, paint, style } = it;
  const body = lines.map((line) => `${paint(bar)} ${line}`.trimEnd());
  return `${paint(`╭─ ${style.bold(title)}`)}\n${body.join('\n')}\n${paint('╰─')}\n\n`;
}
