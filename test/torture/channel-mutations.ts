import type { Mutation } from './mutations.ts';

/** Bugs in the way to receivers, for the tests that hold it against real sockets. */
export const channelMutations: readonly Mutation[] = [
  {
    name: 'names are looked up in the thread pool',
    file: 'src/net/name-lookup.ts',
    old: "if (isUnanswered(four) || isUnanswered(six)) throw lookupError('EAI_AGAIN', name);",
    new: '',
    test: 'test/net/name-lookup.test.ts',
  },
  {
    name: 'each connection asks the name servers again',
    file: 'src/net/name-lookup.ts',
    old: 'if (known !== undefined && this.#now() < known.freshUntil) return known.addresses;',
    new: '',
    test: 'test/net/name-lookup.test.ts',
  },
  {
    name: 'a status counts only once the body is complete',
    file: 'src/net/http-post.ts',
    old: '  } catch {\n',
    new: '  } catch (error) {\n    throw error;\n',
    test: 'test/net/http-post.test.ts',
  },
  {
    name: 'a refused event ends the message',
    file: 'src/channels/deliver-parts.ts',
    old: 'if (mustWait || failuresInARow >= maxFailures) break;',
    new: "if (mustWait || delivery.kind !== 'delivered') break;",
    test: 'test/channels/pagerduty/pagerduty-sender.test.ts',
  },
  {
    name: 'all parts of a message are sent again where one is owed',
    file: 'src/channels/deliver-parts.ts',
    old: 'recipients?.flatMap((name) => parts.find((part) => part.name === name) ?? []) ??',
    new: '',
    test: 'test/channels/wecom/wecom-robot.test.ts',
  },
  {
    name: 'a message waits for the edit of the first one',
    file: 'src/channels/slack/slack-bot-sender.ts',
    old: "if (edited.kind !== 'retry') return { ...edited, ...posted };",
    new: "if (edited.kind === 'retry') return edited; if (edited.kind === 'delivered') return posted;",
    test: 'test/channels/slack/slack-bot-sender.test.ts',
  },
  {
    name: 'a mail server has half a minute to confirm a mail',
    file: 'src/channels/email/smtp-connection.ts',
    old: '  finalDot: 10 * minuteMs,',
    new: '  finalDot: minuteMs / 2,',
    test: 'test/channels/email/email-sender.test.ts',
  },
  {
    name: 'a mail that waits holds up the next one',
    file: 'src/daemon/dispatcher.ts',
    old: 'if (Math.max(underWay.length, lane.running.size) >= maxConcurrent) return [];',
    new: 'if (underWay.length > 0 || maxConcurrent < 1) return [];',
    test: 'test/daemon/slow-receiver.test.ts',
  },
  {
    name: 'the end of an incident overtakes its beginning',
    file: 'src/daemon/dispatcher.ts',
    old: '!isAboutOneOf(message, busy)',
    new: 'message.items.length > 0 || busy.size > 0',
    test: 'test/daemon/slow-receiver.test.ts',
  },
];
