import { kindOf } from '../../src/channels/registry.ts';
import type { Outcome } from '../../src/domain/reading.ts';
import type { AccountSettings, ChannelSettings } from '../../src/domain/settings.ts';
import type { Channel } from '../../src/ports/channel.ts';
import type { Provider } from '../../src/ports/provider.ts';
import type { InFlight, Life, OwnerSpan } from './life.ts';
import type { Machine } from './machine.ts';
import { partsAt } from './model/receivers.ts';
import type { Observer, Send } from './observer.ts';
import type { World } from './world.ts';

/** The provider and the channels as the processes of a machine reach them. */
export class Peers {
  readonly #machine: Machine;
  readonly #world: World;
  readonly #observer: Observer;
  #sends = 0;

  constructor(machine: Machine, { world, observer }: { readonly world: World; readonly observer: Observer }) {
    this.#machine = machine;
    this.#world = world;
    this.#observer = observer;
  }

  provider(life: Life, span: OwnerSpan): Provider {
    return {
      readBalance: (account, signal, guard = () => 0) =>
        new Promise((resolve) => {
          const flight: InFlight = {
            signal,
            abort: () => {
              life.flights.delete(flight);
              resolve({ kind: 'network_error', reason: 'given up', durationMs: 1, usage: {} });
            },
          };
          life.flights.add(flight);
          const send = (): void => {
            if (life.call()) return;
            const waitMs = signal.aborted ? 0 : guard();
            if (signal.aborted || waitMs === Number.POSITIVE_INFINITY) flight.abort();
            else if (waitMs > 0) life.deliver(waitMs, send);
            else this.#askProvider(life, { span, account, flight, resolve });
          };
          send();
        }),
      close: async () => undefined,
    };
  }

  #askProvider(
    life: Life,
    it: {
      readonly span: OwnerSpan;
      readonly account: AccountSettings;
      readonly flight: InFlight;
      readonly resolve: (outcome: Outcome) => void;
    },
  ): void {
    const { span, account, flight, resolve } = it;
    const counts = this.#machine.mayAct(span, `${this.#machine.name} asks for ${account.id}`);
    if (counts) this.#observer.pollBegan(account.id, this.#machine.mayNotifyUnpersisted(span));
    const { outcome, afterMs } = this.#world.answer(account.id, this.#machine.queue.now, account.balances);
    life.deliver(afterMs, () => {
      if (!life.flights.delete(flight)) return;
      if (!flight.signal.aborted) this.#machine.observe(span, (it) => it.pollEnded(account, outcome));
      resolve(outcome);
    });
  }

  channel(life: Life, span: OwnerSpan, settings: ChannelSettings): Channel {
    const kind = kindOf(settings);
    const { names } = this.#world;
    const receiver = names.of(settings);
    const { minGapMs, paceKey = receiver } = kind.pace(settings);
    return {
      name: settings.name,
      threadsBySubject: kind.threadsBySubject ?? false,
      drawsAlerts: kind.drawsAlerts ?? false,
      ...(kind.restateEveryMs === undefined ? {} : { restateEveryMs: kind.restateEveryMs }),
      preview: async () => '',
      // The model knows one message of a channel under way.
      ...{ minGapMs, paceKey },
      send: (message, signal) => {
        if (life.call()) return new Promise(() => undefined);
        const counts = this.#machine.mayAct(span, `${this.#machine.name} sends ${message.id}`);
        const fate = this.#world.fate(receiver, {
          at: this.#machine.queue.now,
          attempt: this.#sends++,
          to: message.recipients,
          parts: partsAt(settings.type, message),
        });
        const { delivery } = fate;
        const send: Send = {
          channel: receiver,
          type: settings.type,
          message,
          missed: delivery.kind === 'delivered' ? (delivery.owed?.recipients ?? []) : [],
          at: this.#machine.queue.now,
          process: life.number,
          isFarewell:
            span.daemon?.state.settings.channels.some((each) => names.of(each) === receiver) === false,
          isRound: message.kind === 'incidents' && message.id.startsWith('open-'),
          mayBeUnstored: this.#machine.mayNotifyUnpersisted(span),
        };
        const { tests } = this.#world;
        const isTest = tests.isOf(send);
        const isOfOutbox = !isTest && !send.isFarewell && !send.isRound;
        if (counts && isOfOutbox) this.#observer.sending(send);
        // What was handed over arrives, whether or not the process lives to hear of it.
        if (fate.arrivesAfterMs !== null && counts) {
          this.#machine.queue.at(this.#machine.queue.now + fate.arrivesAfterMs, () => {
            if (isTest) return void tests.arrived(send);
            if (isOfOutbox) this.#world.chats.arrived(send);
            this.#observer.arrived(send);
          });
        }
        return new Promise((resolve) => {
          const flight: InFlight = {
            signal,
            abort: () => {
              life.flights.delete(flight);
              const delivery = { kind: 'retry', certainty: 'unknown', reason: 'given up' } as const;
              if (isOfOutbox) this.#machine.observe(span, (it) => it.answered(send, delivery));
              resolve(delivery);
            },
          };
          life.flights.add(flight);
          life.deliver(fate.answersAfterMs, () => {
            if (!life.flights.delete(flight)) return;
            if (isTest) tests.answered(send, fate.delivery);
            else if (isOfOutbox || send.isRound)
              this.#machine.observe(span, (it) => it.answered(send, fate.delivery));
            resolve(fate.delivery);
          });
        });
      },
      close: async () => undefined,
    };
  }
}
