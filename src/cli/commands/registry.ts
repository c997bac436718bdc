import type { Command } from '../command.ts';
import { ackCommand } from './ack.ts';
import { alertsCommand } from './alerts.ts';
import { backupCommand } from './backup.ts';
import { explainCommand } from './explain.ts';
import { healthCommand } from './health.ts';
import { historyCommand } from './history.ts';
import { schemaCommand } from './schema.ts';
import { silenceAddCommand, silenceExpireCommand, silenceListCommand } from './silence.ts';
import { simulateCommand } from './simulate.ts';
import { statusCommand } from './status.ts';
import { validateCommand } from './validate.ts';

/** Every command, in the order in which help lists them. */
export const commands: readonly Command[] = [
  validateCommand,
  statusCommand,
  historyCommand,
  alertsCommand,
  explainCommand,
  ackCommand,
  silenceAddCommand,
  silenceListCommand,
  silenceExpireCommand,
  simulateCommand,
  backupCommand,
  schemaCommand,
  healthCommand,
];
