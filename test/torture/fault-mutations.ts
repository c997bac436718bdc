import type { Mutation } from './mutations.ts';

const flippedBits = 'test/store/sqlite/flipped-bits.test.ts';
const clockJumps = 'test/daemon/clock-jumps.test.ts';
const pushes = 'test/daemon/pushed-readings.test.ts';
const serverTest = 'test/http/server.test.ts';
const security = 'test/http/security.test.ts';
const freshness = 'src/providers/transport/freshness.ts';
const freshnessTest = 'test/providers/transport/freshness.test.ts';

/** Bugs about what a daemon meets: a damaged database, a clock, a cache, a rude client. */
export const faultMutations: readonly Mutation[] = [
  {
    name: 'a folder that cannot be looked into ends the daemon',
    file: 'src/store/sqlite/self-healing-store.ts',
    old: `    takeOrders: () =>
      guardStorage(path, () => {`,
    new: `    takeOrders: () =>
      ((_: string, work: () => readonly []) => work())(path, () => {`,
    test: 'test/store/sqlite/moved-file.test.ts',
  },
  {
    name: 'a stored instant may be a text',
    file: 'src/store/shapes.ts',
    old: "const instant: Check = (value) => typeof value === 'number' && Math.abs(value) <= maxInstant;",
    new: 'const instant: Check = (value) => value !== undefined || maxInstant > 0;',
    test: 'test/daemon/damaged-polls.test.ts',
  },
  {
    name: 'an alert whose incident cannot be read says nothing any more',
    file: 'src/engine/restore.ts',
    old: '  reunite(state, now);',
    new: '  if (stored.alerts.length === 0) reunite(state, now);',
    test: 'test/daemon/damaged-polls.test.ts',
  },
  {
    name: 'a log that was cut is taken for whole',
    file: 'src/store/sqlite/open-store.ts',
    old: '!isDamaged && soundFrames < framesLeft',
    new: '!isDamaged && soundFrames > framesLeft + soundFrames',
    test: flippedBits,
  },
  {
    name: 'a message that was put off by decades holds up its channel',
    file: 'src/engine/restore.ts',
    old: 'dueAt: Math.min(message.dueAt, now + longestWaitMs),',
    new: 'dueAt: Math.min(message.dueAt, now * longestWaitMs),',
    test: 'test/daemon/damaged-polls.test.ts',
  },
  {
    name: 'what people did from memory is lost at a take-over',
    file: 'src/engine/unstored.ts',
    old: 'const orders = [...state.acts.values()];',
    new: 'const orders = [...state.acts.values()].slice(0, 0);',
    test: 'test/daemon/unstored.test.ts',
  },
  {
    name: 'an account that comes back has no history before a restart',
    file: 'src/engine/reconfigure.ts',
    old: 'if (state.polled.get(id)?.reading === null) state.unloaded.add(id);',
    new: 'if (state.polled.get(id) === null) state.unloaded.add(id);',
    test: 'test/daemon/reload.test.ts',
  },
  {
    name: 'a group whose first account changed waits no more',
    file: 'src/engine/account-groups.ts',
    old: 'group === undefined || group === old ||',
    new: 'group !== old ||',
    test: 'test/daemon/request-guard.test.ts',
  },
  {
    name: 'a group whose first account changed is asked at once',
    file: 'src/daemon/poller.ts',
    old: '      if (isReload && !this.#groups.has(asked)) this.#guard.sent(group, now);\n',
    new: '',
    test: 'test/daemon/request-guard.test.ts',
  },
  {
    name: 'each reload makes every group wait',
    file: 'src/daemon/poller.ts',
    old: 'if (isReload && !this.#groups.has(asked))',
    new: 'if (isReload)',
    test: 'test/daemon/request-guard.test.ts',
  },
  {
    name: 'an account that a reload brought was watched by nobody before its first poll',
    file: 'src/engine/restore.ts',
    old: 'firstSeenAt > now ? livedAt : firstSeenAt',
    new: 'livedAt',
    test: 'test/engine/restore.test.ts',
  },
  {
    name: 'a daemon of silent pushed accounts that died lived for the last time days ago',
    file: 'src/engine/restore.ts',
    old: 'livedAt = Math.max(livedAt, at > now ? livedAt : at);',
    new: ';',
    test: 'test/engine/restore.test.ts',
  },
  {
    name: 'a record that names another account than its row is taken for whole',
    file: 'src/store/shapes.ts',
    old: 'return wrong === undefined ? null : `its',
    new: 'return wrong !== null ? null : `its',
    test: 'test/store/sqlite/damaged-records.test.ts',
  },
  {
    name: 'what was set aside is forgotten with the daemon that found it',
    file: 'src/store/records.ts',
    old: '  damagedRecords.push(...readUntold(readable.find(({ name }) => name === untoldDamageNote)?.value));\n',
    new: '',
    test: 'test/store/sqlite/damaged-records.test.ts',
  },
  {
    name: 'what a message told that was lost is told no more',
    file: 'src/engine/restore.ts',
    old: "if (source === 'message' && at !== undefined) withdrawLost(state, { id, at });",
    new: ';',
    test: 'test/engine/restore.test.ts',
  },
  {
    name: 'nobody looks for what ended with a message that was lost',
    file: 'src/store/records.ts',
    old: 'if (Number.isFinite(lostSince))',
    new: 'if (lostSince === 0)',
    test: 'test/store/sqlite/damaged-records.test.ts',
  },
  {
    name: 'who heard of an incident whose record is damaged does not hear its end',
    file: 'src/engine/incidents.ts',
    old: '{ ...incident, notified: perhapsNotified(state, incident, alert, now) }',
    new: 'incident',
    test: 'test/engine/restore.test.ts',
  },
  {
    name: 'an incident whose record is damaged loses its labels',
    file: 'src/engine/incidents.ts',
    old: 'settings === undefined ? null : { settings }',
    new: 'null',
    test: 'test/engine/restore.test.ts',
  },
  {
    name: 'what could not be read at the load is told to nobody',
    file: 'src/engine/restore.ts',
    old: '  noteDamagedRecords(state, stored.damagedRecords ?? [], now);',
    new: '  noteDamagedRecords(state, [], now);',
    test: 'test/daemon/damaged-polls.test.ts',
  },
  {
    name: 'what was due while the machine slept is polled at its next turn',
    file: 'src/daemon/poller.ts',
    old: 'if (dueAt !== null || poll.kind ===',
    new: 'if (dueAt === null || dueAt > since || poll.kind ===',
    test: clockJumps,
  },
  {
    name: 'a short stand-still counts as watched',
    file: 'src/daemon/steady-clock.ts',
    old: 'const standstillMs = 2000;',
    new: 'const standstillMs = 15_000;',
    test: clockJumps,
  },
  {
    name: 'a gap between two readings is walked from its beginning',
    file: 'src/spending/account-spending.ts',
    old: 'if (at - lastAt <= maxWalkMs) return lastAt;',
    new: 'if (at - lastAt <= maxWalkMs || lastAt < at) return lastAt;',
    test: 'test/spending/account-spending.test.ts',
  },
  {
    name: 'a name that every object knows is found in a record',
    file: 'src/domain/own.ts',
    old: 'record != null && Object.hasOwn(record, name) ?',
    new: 'record != null && name in record ?',
    test: 'test/outside-names.test.ts',
  },
  {
    name: 'a pushed reading of long ago is taken',
    file: 'src/engine/observe.ts',
    old: 'if (pushed.at < now - state.settings.storage.retentionMs)',
    new: 'if (pushed.at < -state.settings.storage.retentionMs)',
    test: pushes,
  },
  {
    name: 'a reading that a clock ahead repeats is another one',
    file: 'src/engine/observe.ts',
    old: 'const at = pushed.at === clamped?.given ? clamped.taken : Math.min(pushed.at, now);',
    new: 'const at = clamped?.given === 0 ? 0 : Math.min(pushed.at, now);',
    test: pushes,
  },
  {
    name: 'requests of one connection are answered side by side',
    file: 'src/http/limits.ts',
    old: '    await before;\n',
    new: '    void before;\n',
    test: serverTest,
  },
  {
    name: 'the answer that a cache repeats is believed',
    file: freshness,
    old: 'askedAt - last.firstAt > grainMs;',
    new: 'askedAt - last.firstAt > 1e9 * grainMs;',
    test: freshnessTest,
  },
  {
    name: 'near empty an answer may be as old as at any other time',
    file: freshness,
    old: '(nearEmptyMs ?? usualMs)',
    new: '(usualMs + 0 * (nearEmptyMs ?? 0))',
    test: freshnessTest,
  },
  {
    name: 'a damaged frame ends the log of a killed daemon without a word',
    file: 'src/store/sqlite/open-store.ts',
    old: 'else if (isOwn) return { soundFrames, isDamaged: true };',
    new: 'else return { soundFrames, isDamaged: false };',
    test: flippedBits,
  },
  {
    name: 'indexes are not held against their tables',
    file: 'src/store/sqlite/integrity.ts',
    old: 'return [`integrity_check(',
    new: 'return [`quick_check(',
    test: flippedBits,
  },
  {
    name: 'metrics are open behind a proxy that says nothing',
    file: 'src/http/access.ts',
    old: '    isLoopbackHost(publicHost(settings) ?? name) &&\n',
    new: '',
    test: security,
  },
  {
    name: 'of several session cookies the first counts',
    file: 'src/http/session.ts',
    old: 'const sessions = valuesOf(cookieHeader).flatMap(',
    new: 'const sessions = valuesOf(cookieHeader).slice(0, 1).flatMap(',
    test: security,
  },
];
