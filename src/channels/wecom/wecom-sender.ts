import type { Sender, SenderDependencies } from '../kind.ts';
import { openPostSender } from '../post-sender.ts';
import { renderWecom } from './render-wecom.ts';
import { wecomAnswers } from './wecom-answers.ts';
import type { WecomSettings } from './wecom-settings.ts';

/** Posts Markdown to a group robot, and a line of text after it that mentions people. */
export function openWecomSender(
  options: SenderDependencies & { readonly settings: WecomSettings; readonly timeoutMs?: number },
): Sender {
  const { settings, ...limits } = options;
  const { webhookUrl, mention } = settings;
  return openPostSender({
    ...limits,
    address: webhookUrl,
    table: wecomAnswers,
    render: (message) => renderWecom(message, mention).map((payload) => JSON.stringify(payload)),
    prepare: (body) => ({ url: webhookUrl.reveal(), body }),
  });
}
