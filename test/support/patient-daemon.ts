import { systemClock } from '../../src/system/clock.ts';
import { limitMemory } from '../../src/wiring/before-loading.ts';
import { createPatientClock } from './patient-clock.ts';
import { wireDaemon } from './wired-daemon.ts';

/**
 * The entry point of a daemon whose clock runs fast: the configuration file, the speed and a time. What waits for sockets keeps real time. Prints a line each such time of its own, with the bytes of
 * its heap that are in use (no garbage where Node runs with --expose-gc). Ends on SIGTERM.
 */
const [configFile = '', speed = '1', stepMs = '86400000'] = process.argv.slice(2);

limitMemory('small');
const clock = createPatientClock(Number(speed));
const daemon = await wireDaemon({ configFile, clock, providerClock: systemClock });
const tellStep = (step: number): void => {
  clock.setTimer(Number(stepMs), () => {
    globalThis.gc?.();
    const { heapUsed, external } = process.memoryUsage();
    process.stdout.write(`${JSON.stringify({ step, heapBytes: heapUsed + external })}\n`);
    tellStep(step + 1);
  });
};
tellStep(1);
process.once('SIGTERM', () => void daemon.stop().then(() => process.exit()));
