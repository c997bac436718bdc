import { receivePosts } from '../listen-on-loopback.ts';
import { describeTeams, type TeamsPayload } from './render-teams.ts';

/** Takes what a workflow takes, and answers as it does. */
export const teamsDemoReceiver = receivePosts({
  channel: (origin) => ({
    type: 'teams',
    webhookUrl: `${origin}/workflows/demo/triggers/manual/paths/invoke`,
  }),
  show: (body) => {
    // Nobody but the demo's own channel knows this address.
    const payload: TeamsPayload = JSON.parse(body);
    return { title: 'Teams', lines: describeTeams(payload) };
  },
  answer: { status: 202, body: '' },
});
