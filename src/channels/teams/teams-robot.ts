import type { Robot } from '../robot-kind.ts';
import { describeTeams, renderTeams } from './render-teams.ts';

export const teamsRobot: Robot = {
  render: (message, mention) => [renderTeams(message, mention)],
  demo: {
    path: '/workflows/demo/triggers/manual/paths/invoke',
    title: 'Teams',
    // Nobody but the demo's own channel knows this address.
    lines: (body) => describeTeams(JSON.parse(body)),
    answer: { status: 202, body: '' },
  },
};
