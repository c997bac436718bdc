import { readFileSync } from 'node:fs';

/** Loaded before the program by --import: its wall clock is ahead by as many milliseconds as the file SHIFT_CLOCK_FILE says. */
const file = process.env.SHIFT_CLOCK_FILE ?? '';
const now = Date.now.bind(Date);
let aheadMs = 0;

function look(): void {
  try {
    aheadMs = Number(readFileSync(file, 'utf8'));
  } catch {
    // Nobody has set it wrong yet.
  }
}

look();
setInterval(look, 100).unref();
Date.now = () => now() + aheadMs;
