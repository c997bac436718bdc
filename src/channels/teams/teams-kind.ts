import { type HttpAnswer, isSuccess, jsonOf } from '../../net/http-answer.ts';
import { credentialAddress } from '../../schema/addresses.ts';
import { type AnswerTable, commonAnswers } from '../answers.ts';
import { mentionSchema } from '../mention.ts';
import { robotKind } from '../robot-kind.ts';

/** What a workflow answers. It answers before it posts: a card that Teams refuses afterwards is seen in the workflow's runs only. */
const teamsAnswers: AnswerTable = {
  receiver: 'the Teams workflow',
  quote: errorCode,
  rows: [
    {
      answer: '2xx, mostly 202 without a body',
      fits: isSuccess,
      means: 'delivered',
      note: 'the workflow took it; whether Teams showed it stands in its run history',
      source: 'reports of users; learn.microsoft.com says nothing',
    },
    {
      answer: '401, 403, 404',
      fits: ({ status }) => [401, 403, 404].includes(status),
      means: 'dead',
      remedy:
        'the workflow is gone, switched off, or its address is not whole; it must let "Anyone" start it',
      source: 'learn.microsoft.com, create incoming webhooks with Workflows',
    },
    ...commonAnswers,
  ],
};

/** `{"error":{"code":"WorkflowTriggerIsNotEnabled", …}}` */
function errorCode(answer: HttpAnswer): string {
  const error = jsonOf(answer)?.error;
  const code = typeof error === 'object' && error !== null && 'code' in error ? error.code : '';
  return typeof code === 'string' && /^\w{2,60}$/.test(code) ? code : '';
}

/** Microsoft Teams by a Workflows webhook. The whole address is the credential, its query too. */
export const teamsKind = robotKind({
  type: 'teams',
  description: 'Messages to Microsoft Teams by a Workflows webhook.',
  keys: {
    webhookUrl: credentialAddress(
      'Address of the workflow "When a Teams webhook request is received". It is a credential.',
      'a Teams workflow',
    ).refine((address) => !/(^|\.)webhook\.office\.com$/.test(URL.parse(address.reveal())?.hostname ?? ''), {
      error:
        'is an Office connector, which Microsoft has retired: make a workflow "When a Teams webhook request is received"',
    }),
    mention: mentionSchema({
      description: 'Who is mentioned, by severity: sign-in names such as "mei@example.com", or object ids.',
      pattern:
        /^(?:[^\s<>@"]{1,64}@[A-Za-z0-9.-]{1,190}|[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12})$/,
      allowed:
        'must be a sign-in name (UPN) such as "mei@example.com", or the object id of a person in Entra ID',
    }).optional(),
  },
  hosts: /\.(?:logic\.azure|powerplatform)\.com$/,
  // More than 4 a second are throttled (learn.microsoft.com, webhooks and connectors); a workflow of its own may allow less.
  minGapMs: () => 1000,
  answers: teamsAnswers,
  load: async () => (await import('./teams-robot.ts')).teamsRobot,
});
