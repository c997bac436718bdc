import { systemClock } from '../../src/system/clock.ts';
import { createPatientClock } from './patient-clock.ts';
import { wireDaemon } from './wired-daemon.ts';

/**
 * The entry point of a daemon whose clock runs fast: the configuration file and the speed. What waits for sockets keeps real time. Prints a line after each day of its own, with the bytes of
 * its heap that are in use (no garbage where Node runs with --expose-gc). Ends on SIGTERM.
 */
const [configFile = '', speed = '1'] = process.argv.slice(2);
const dayMs = 86_400_000;

const clock = createPatientClock(Number(speed));
const daemon = await wireDaemon({ configFile, clock, providerClock: systemClock });
const tellDay = (day: number): void => {
  clock.setTimer(dayMs, () => {
    globalThis.gc?.();
    const { heapUsed, external } = process.memoryUsage();
    process.stdout.write(`${JSON.stringify({ day, heapBytes: heapUsed + external })}\n`);
    tellDay(day + 1);
  });
};
tellDay(1);
process.once('SIGTERM', () => void daemon.stop().then(() => process.exit()));
