import { accelerateClock } from '../accelerated-clock.ts';
import { wireDaemon } from '../wired-daemon.ts';
import { type KillPlan, killAt } from './kill-plan.ts';

/**
 * The entry point of a daemon that stops itself with SIGKILL at a chosen call of a port: the configuration
 * file, the plan as JSON, the speed of its clock and the instant from which it runs so fast. Ends on SIGTERM,
 * and prints how often each step was come to.
 */
const [configFile = '', plan = 'null', speed = '1', startedAt = '0'] = process.argv.slice(2);

const { changes, counts } = killAt(JSON.parse(plan) as KillPlan | null);
const clock = accelerateClock(Number(speed), Number(startedAt));
const daemon = await wireDaemon({ configFile, clock, changes });
process.once('SIGTERM', () => {
  void daemon.stop().then(() => process.stdout.write(`${JSON.stringify({ counts })}\n`));
});
