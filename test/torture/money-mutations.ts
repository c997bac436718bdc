import type { Mutation } from './mutations.ts';

const orders = 'test/engine/orders.test.ts';
const review = 'test/http/page/review.test.ts';

/** Bugs about what people pay, read and order. */
export const moneyMutations: readonly Mutation[] = [
  {
    name: 'each tab has a stream of its own',
    file: 'src/http/assets/live.js',
    old: "if (typeof SharedWorker === 'undefined') return",
    new: "if (typeof SharedWorker !== 'undefined') return",
    test: 'test/http/browser-live.test.ts',
  },
  {
    name: 'weekends carry payments',
    file: 'src/spending/local-week.ts',
    old: '!(this.#weekend.includes(this.weekdayOf(day)) || this.#holidays.has(day))',
    new: '!this.#holidays.has(day)',
    test: 'test/spending/weekend.test.ts',
  },
  {
    name: 'the fast path of the runway rule counts what cannot be spent',
    file: 'src/spending/forecast.ts',
    old: 'forMs + secondMs) < left - Math.min(left, keptOf(state));',
    new: 'forMs + secondMs) < left;',
    test: 'test/rules/runway.test.ts',
  },
  {
    name: 'what is advised is spent before a quiet time, and lasts until that begins',
    file: 'src/spending/forecast.ts',
    old: '+ (endsQuietly ? 1 : 0);',
    new: '+ (endsQuietly ? 0 : 0);',
    test: 'test/rules/runway.test.ts',
  },
  {
    name: 'what two people order at once counts twice',
    file: 'src/engine/orders/expect-top-up.ts',
    old: 'topUp.balance === balance && !seen.expected.includes(id),',
    new: 'topUp.balance === balance && seen.expected.includes(id),',
    test: orders,
  },
  {
    name: 'what is due at once waits until its instant',
    file: 'src/views/payment-plan.ts',
    old: "if (isDue) return 'now';",
    new: "if (isDue && (dueAt ?? 0) <= now) return 'now';",
    test: 'test/http/page/pay.test.ts',
  },
  {
    name: 'a balance below zero is so until its last reading only',
    file: 'src/views/review.ts',
    old: 'if (last === null || last.at >= until) return;',
    new: 'if (last === null || last.at < until) return;',
    test: review,
  },
  {
    name: 'what a program pushes is in the audit of what people do',
    file: 'src/engine/observe.ts',
    old: '  state.unconfirmed.delete(account.id);\n',
    new: `  state.unconfirmed.delete(account.id);
  const name = 'audit:' + now + ':push';
  state.notes.set(name, { name, value: JSON.stringify({ at: now, by: '', action: 'push' }) });
`,
    test: 'test/daemon/pushed-readings.test.ts',
  },
  {
    name: 'messages about several alerts leave out by when to pay and how long it lasts',
    file: 'src/messages/message-wording.ts',
    old: 'const figuresAmongOthers = 5;',
    new: 'const figuresAmongOthers = 1;',
    test: 'test/messages/message-wording.test.ts',
  },
  {
    name: 'a rate limit in the words of its vendor is a refused key',
    file: 'src/providers/presets/yunpian.json',
    old: '"in": [-4, -5], "means": "rate_limited"',
    new: '"in": [-4, -5], "means": "auth_failed"',
    test: 'test/providers/presets/presets.test.ts',
  },
  {
    name: 'a runway alert ends once an account that one poll emptied stands still',
    file: 'src/rules/runway.ts',
    old: 'const runwayMs = isStill ? stillMs : credited.runwayMs;',
    new: 'const runwayMs = credited.runwayMs;',
    test: 'test/rules/runway.test.ts',
  },
  {
    name: 'the refund of a message passes for a payment',
    file: 'src/spending/silence.ts',
    old: 'Math.max(1, left, Math.ceil(meanHour / 10))',
    new: 'Math.max(1, left)',
    test: 'test/spending/runway.test.ts',
  },
];
