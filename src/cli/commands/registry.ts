import type { Command } from '../command.ts';
import { ackCommand, unackCommand } from './ack.ts';
import { alertsCommand, explainCommand } from './alerts.ts';
import { auditCommand } from './audit.ts';
import { checkCommand } from './check.ts';
import { clusterHandOverCommand, clusterStatusCommand } from './cluster.ts';
import { createCompletionCommand } from './completion.ts';
import { backupCommand, migrateStoreCommand, queryCommand } from './database.ts';
import { expectCommand } from './expect.ts';
import { expectSpendingCommand } from './expect-spending.ts';
import { historyCommand } from './history.ts';
import { initCommand } from './init.ts';
import { mcpCommand } from './mcp.ts';
import { providersCommand } from './providers.ts';
import { replayCommand } from './replay.ts';
import { routesCommand } from './routes.ts';
import { demoCommand, healthCommand, runCommand } from './run.ts';
import { reportCommand, testChannelCommand } from './send.ts';
import { silenceAddCommand, silenceExpireCommand, silenceListCommand } from './silence.ts';
import { simulateCommand } from './simulate.ts';
import { statusCommand } from './status.ts';
import { testAlertCommand } from './test-alert.ts';
import { schemaCommand, validateCommand } from './validate.ts';

/** The descriptions of groups: the first word of commands with two words. */
export const groups: Readonly<Record<string, string>> = {
  silence: 'mute alerts for a while, see what is muted, end it',
  cluster: 'daemons that share a PostgreSQL database: who owns the accounts, give them away',
};

/** Every command, in the order in which help lists them. */
export const commands: readonly Command[] = [
  runCommand,
  demoCommand,
  initCommand,
  checkCommand,
  validateCommand,
  statusCommand,
  historyCommand,
  auditCommand,
  queryCommand,
  alertsCommand,
  explainCommand,
  replayCommand,
  ackCommand,
  unackCommand,
  expectCommand,
  expectSpendingCommand,
  silenceAddCommand,
  silenceListCommand,
  silenceExpireCommand,
  routesCommand,
  testChannelCommand,
  testAlertCommand,
  reportCommand,
  simulateCommand,
  backupCommand,
  migrateStoreCommand,
  clusterStatusCommand,
  clusterHandOverCommand,
  providersCommand,
  mcpCommand,
  schemaCommand,
  createCompletionCommand(() => commands, groups),
  healthCommand,
];
