import type { Mutation } from './mutations.ts';

/** Bugs that show where two things meet. */
export const pairMutations: readonly Mutation[] = [
  {
    name: 'a silence is forgotten once the clock ran past its end',
    file: 'src/domain/route.ts',
    old: 'export const keptAfterEndMs = weekMs;',
    new: 'export const keptAfterEndMs = 0 * weekMs;',
    pair: 'silence × clock',
  },
  {
    name: 'a run that two people announce counts twice',
    file: 'src/engine/orders/expect-spending.ts',
    old: 'if (same !== undefined) {',
    new: 'if (same !== undefined && now < 0) {',
    pair: 'run × run',
  },
  {
    name: 'a top-up has arrived with the first rise',
    file: 'src/domain/operator.ts',
    old: 'return receivedMicros >= amountMicros * arrivedShare;',
    new: 'return receivedMicros > 0 * amountMicros * arrivedShare;',
    pair: 'ordered × renamed',
  },
  {
    name: 'what is expected outlives an account that is removed before a start',
    file: 'src/engine/notes.ts',
    old: '    this.delete(account);\n    this.#notes.delete(',
    new: '    if (this.delete(account)) this.#notes.delete(',
    pair: 'ordered × renamed',
  },
  {
    name: 'an order takes another incident than the one that was seen',
    file: 'src/engine/orders/acknowledge.ts',
    old: 'if (incident !== undefined && (alert?.incident ?? null) !== incident)',
    new: 'if (incident !== undefined && incident === null)',
    pair: 'link × over',
  },
  {
    name: 'nobody hears that an order given to a standby was refused',
    file: 'src/engine/orders.ts',
    old: 'return isRefusal(answer) ? recordNotDone(state, left, { ...order, why: answer.why }, now) : null;',
    new: 'return isRefusal(answer) ? { kind: order.kind, why: answer.why } : null;',
    pair: 'refused order × standby',
  },
  {
    name: 'messages that wait are loaded by what the clock showed',
    file: 'src/store/records.ts',
    old: 'ORDER BY +no";',
    new: 'ORDER BY created_at, no";',
    test: 'test/store/records.test.ts',
  },
  {
    name: 'a round to Alertmanager opens again what ended meanwhile',
    file: 'src/channels/alertmanager/alertmanager-sender.ts',
    old: 'member.latest = member.latest.then(() => post(member, alerts.rendered, outer));',
    new: 'member.latest = post(member, alerts.rendered, outer);',
    test: 'test/channels/alertmanager/alertmanager-sender.test.ts',
  },
];
