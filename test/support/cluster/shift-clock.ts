/** Loaded before the program by --import: sets its wall clock wrong by SHIFT_CLOCK_MS. */
const shiftMs = Number(process.env.SHIFT_CLOCK_MS ?? 0);
const now = Date.now.bind(Date);
Date.now = () => now() + shiftMs;
