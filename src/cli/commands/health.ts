import { askDaemon } from '../ask-daemon.ts';
import { type Command, CommandError, exitCodes } from '../command.ts';
import { loadConfiguration } from '../load-configuration.ts';

export const healthCommand: Command = {
  name: 'health',
  summary: 'ask the running daemon whether it is alive',
  details: `Asks /livez of the HTTP server that the configuration names, as the container's health check does. Exits with 0 when it
answers and with 1 when it does not. Without a server in the configuration there is nothing to ask: exit 0.`,
  run: async (context, input) => {
    const { settings } = await loadConfiguration(context, input);
    if (settings.server === null) {
      await context.stdout.write('The configuration names no HTTP server; nothing to ask.\n');
      return exitCodes.ok;
    }
    const answer = await askDaemon(settings.server, { method: 'GET', path: '/livez' });
    if (answer.kind === 'answered') {
      await context.stdout.write('alive\n');
      return exitCodes.ok;
    }
    throw new CommandError(answer.kind === 'refused' ? answer.message : 'no daemon answers');
  },
};
