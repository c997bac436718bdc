import { type Command, exitCodes } from '../command.ts';
import { EndedEarly, loadConfiguration } from '../load-configuration.ts';

export const runCommand: Command = {
  name: 'run',
  summary: 'the daemon, in the foreground',
  details: `Polls, stores, judges and tells until SIGTERM or SIGINT; then it ends within 10 s with exit code 0. A second signal ends it at
once. SIGHUP, or a change of the file, reads the configuration again. Logs JSON lines on standard output, warnings about the configuration
among them.`,
  examples: ['lowwater run --config /etc/lowwater/config.json'],
  run: async (context, input) => {
    try {
      await context.process.runDaemon(await loadConfiguration(context, input), context.signal);
    } catch (error) {
      if (!(error instanceof EndedEarly)) throw error;
    }
    return exitCodes.ok;
  },
};
