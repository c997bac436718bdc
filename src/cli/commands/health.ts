import { type Command, CommandError, exitCodes } from '../command.ts';
import { findDaemon, namedServer, requireDaemon } from '../daemon/find-daemon.ts';
import { loadForOperator } from '../load-configuration.ts';

export const healthCommand: Command = {
  name: 'health',
  summary: 'ask the running daemon whether it is alive',
  details: `Asks /livez of the HTTP server, as the container's health check does. Exits with 0 when the daemon of this configuration answers
and with 1 when it does not. Without a server in the configuration there is nothing to ask: exit 0.`,
  asksDaemon: true,
  run: async (context, input) => {
    const server = namedServer(context, input);
    if (server !== null) await requireDaemon(server);
    else {
      const configuration = await loadForOperator(context, input);
      if (configuration.settings.server === null) {
        await context.stdout.write('The configuration names no HTTP server; nothing to ask.\n');
        return exitCodes.ok;
      }
      if ((await findDaemon(context, configuration)) === null) throw new CommandError('no daemon answers');
    }
    await context.stdout.write('alive\n');
    return exitCodes.ok;
  },
};
