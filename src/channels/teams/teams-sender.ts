import type { Sender, SenderDependencies } from '../kind.ts';
import { openPostSender } from '../post-sender.ts';
import { renderTeams } from './render-teams.ts';
import { teamsAnswers } from './teams-answers.ts';
import type { TeamsSettings } from './teams-settings.ts';

/** Posts an Adaptive Card to a workflow. The whole address is the credential, its query too. */
export function openTeamsSender(
  options: SenderDependencies & { readonly settings: TeamsSettings; readonly timeoutMs?: number },
): Sender {
  const { settings, ...limits } = options;
  const { webhookUrl, mention } = settings;
  return openPostSender({
    ...limits,
    address: webhookUrl,
    table: teamsAnswers,
    render: (message) => [JSON.stringify(renderTeams(message, mention))],
    prepare: (body) => ({ url: webhookUrl.reveal(), body }),
  });
}
