import { createChatAnswers } from '../../src/channels/chats/answer-chat.ts';
import { buttonsOf, readPressed } from '../../src/channels/chats/buttons.ts';
import type { Silence } from '../../src/domain/route.ts';
import { auditOf } from '../../src/engine/audit.ts';
import { refusals } from '../../src/engine/orders/refusals.ts';
import type { MonitorState } from '../../src/engine/state.ts';
import type { ChatAnswer, ChatEvent } from '../../src/ports/channel.ts';
import type { LiveViews } from '../../src/views/live-views.ts';
import { english } from '../../src/wording/language.ts';
import { orderOf } from '../support/orders.ts';
import { takeByLink } from './links.ts';
import type { Machine } from './machine.ts';
import type { Model } from './model/model.ts';
import type { Send } from './observer.ts';
import type { ReceiverNames } from './receiver-names.ts';
import type { Happening } from './scenario.ts';

interface Button {
  readonly channel: string;
  readonly data: string;
  readonly isQuiet: boolean;
}

const reader = { language: english, timezone: 'UTC', now: 0 };
/** Whoever scrolls up presses what was true some messages ago. */
const maxButtons = 8;

/** The buttons that people see under what has arrived, newest first. */
export class Chats {
  readonly #names: ReceiverNames;
  #buttons: readonly Button[] = [];
  #presses = 0;

  constructor(names: ReceiverNames) {
    this.#names = names;
  }

  arrived({ channel, message }: Send): void {
    if (message.kind !== 'incidents') return;
    const fresh = message.items.flatMap((item) =>
      buttonsOf(item, reader)
        .filter(({ verb }) => verb === 'acknowledge' || verb === 'quiet1h')
        .map(({ verb, data }) => ({ channel, data, isQuiet: verb === 'quiet1h' })),
    );
    this.#buttons = [...fresh, ...this.#buttons].slice(0, maxButtons);
  }

  /** Of which incident a message told, beside a link to its page. */
  linkedAt(place: number): string | null {
    const button = this.#buttons[place % Math.max(1, this.#buttons.length)];
    return readPressed(button?.data ?? '')?.incident ?? null;
  }

  /** Gives what the answers to the presses are; null where there is nothing to press. */
  press(
    machine: Machine,
    model: Model,
    { place, twice, verb, byLink = false }: Extract<Happening, { kind: 'press' }>,
  ): Promise<unknown> | null {
    const { daemon, views } = machine;
    const offered = this.#buttons.filter(({ isQuiet }) => verb === undefined || isQuiet);
    const button = offered[place % Math.max(1, offered.length)];
    if (daemon === null || views === null || button === undefined) return null;
    const name = `pia-${++this.#presses}`;
    if (byLink && !button.isQuiet) return pressLinks(machine, model, { name, data: button.data, twice });
    if (byLink)
      return quietByLink(daemon, views, button, name).finally(() => expectOneSilence(daemon.state, model));
    const event: ChatEvent = {
      ...{ id: `press of ${name}`, person: { id: name, name }, chat: 'C1', standing: 'may act' },
      ...{ at: daemon.now(), said: { kind: 'button', data: button.data } },
      channel: this.#names.presentOf(button.channel, daemon.state.settings),
    };
    const answer = createChatAnswers(daemon.state, views, () => daemon.now());
    // A receiver that hears no answer in time brings the same press again.
    const presses = twice ? [event, event] : [event];
    const answers = Promise.all(presses.map(async (it) => answer(it)));
    return answers.then((all) => {
      const broken = untrue(daemon.state, button, { name, answers: all });
      if (broken !== null) model.broken('a press does what it says', `${name}, ${button.data}: ${broken}`);
      expectOneSilence(daemon.state, model);
    });
  }
}

/** Where the answer to one gets lost, nobody knows what was done. */
function pressLinks(
  { daemon, views }: Machine,
  model: Model,
  { name, data, twice }: { readonly name: string; readonly data: string; readonly twice: boolean },
): Promise<unknown> | null {
  if (daemon === null || views === null) return null;
  const links = (twice ? [name, `${name}-again`] : [name]).map(async (by) => {
    const broken = await takeByLink({ daemon, views, data, by, reads: by.length % 2 === 0 });
    if (broken !== null) model.broken('a link does what it says', broken);
  });
  return Promise.all(links);
}

/** Asks for it as the page behind the link in a message does. */
function quietByLink(
  daemon: { readonly state: MonitorState; now(): number },
  views: LiveViews,
  { data }: Button,
  by: string,
): Promise<unknown> {
  const { incident: id = '', severity = 'info' } = readPressed(data) ?? {};
  const { account = '', rule = '' } = daemon.state.incidents.get(id) ?? {};
  const at = daemon.now();
  const match = { account: [account], rule: views.rulesHeardIn({ account, rule }) };
  const asked = { match, everything: false, comment: '' };
  const span = { startsAt: at, endsAt: at + 3_600_000, seen: { account, rule, incident: id, severity } };
  const from = { door: 'link', address: null } as const;
  return views.orders([orderOf({ kind: 'silence', ...asked, ...span }, { by, at, from })]);
}

const togetherMs = 4 * 60_000;

/** Two who ask for the same at about the same time get one. */
function expectOneSilence({ silences }: MonitorState, model: Model): void {
  const asked = [...silences.values()].filter(({ createdBy }) => createdBy.startsWith('pia-'));
  const isSame = (one: Silence, other: Silence): boolean =>
    JSON.stringify(one.match) === JSON.stringify(other.match) &&
    Math.abs(one.endsAt - other.endsAt) < togetherMs &&
    Math.abs(one.createdAt - other.createdAt) < togetherMs;
  for (const [place, one] of asked.entries())
    if (asked.slice(place + 1).some((other) => isSame(one, other)))
      model.broken('two who ask for quiet get it once', `${one.id} of ${one.createdBy}`);
}

/** How the answers differ from what was done; null where they do not. */
function untrue(
  state: MonitorState,
  { data }: Button,
  { name, answers }: { readonly name: string; readonly answers: readonly ChatAnswer[] },
): string | null {
  const pressed = readPressed(data);
  const done = auditOf(state, { since: 0, before: Number.POSITIVE_INFINITY, limit: 10_000 }).filter(
    ({ by }) => by === name,
  );
  const said = answers.filter(({ isPublic }) => isPublic);
  const words = JSON.stringify(answers.map(({ text }) => text));
  if (done.length > 1) return `done ${done.length} times`;
  // Nobody knows whether what the daemon did from memory is stored.
  const unsure = ['could not be stored', refusals.unsure()];
  if (answers.some(({ text }) => unsure.some((words) => text.includes(words)))) return null;
  if (said.length !== done.length) return `said ${words}, done ${JSON.stringify(done)}`;
  const acknowledgement = state.incidents.get(pressed?.incident ?? '')?.acknowledgement;
  if (acknowledgement?.by === name && acknowledgement.severity !== pressed?.severity)
    return `taken at ${acknowledgement.severity}`;
  return null;
}
