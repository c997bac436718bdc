import { keyOf, parseJson } from '../../domain/json.ts';
import type { Message } from '../../domain/message.ts';
import { cleanText, cutText } from '../../domain/plain-text.ts';
import { textBehind } from '../../domain/secret.ts';
import { readerOf } from '../../messages/item-wording.ts';
import { labelled } from '../../wording/lists.ts';
import { buttonsOf, type ChatButton } from '../chats/buttons.ts';
import { standingOf } from '../chats/keep-listening.ts';
import { listens } from '../post-kind.ts';
import type { PostedPart } from '../post-sender.ts';
import type { PostChat, PostCode, PostSettings } from '../receiver.ts';
import type { Preset } from './preset.ts';
import { codeOf } from './preset-parts.ts';
import { chatOf, lookUpMove, noteMove } from './telegram-bot.ts';
import { openTelegramListener } from './telegram-listener.ts';

const maxButtonRows = 8;
/** This many characters of a name leave room for the rule, which tells two alerts of an account apart. */
const maxNameLength = 30;

interface PartWithButtons extends PostedPart {
  readonly keyboard?: object | undefined;
}

/** Settings of channels whose topic is gone: messages go on in the general one. */
const withoutTopic = new WeakSet<PostSettings>();

/** The preset's messages, with buttons below them where their chat is heard. */
export function telegramCode(preset: Preset): PostCode<PartWithButtons> {
  const code = codeOf(preset);
  const topicGone = preset.no.find(({ path }) => path === 'description')?.equals ?? [];
  return {
    render: (message, settings) =>
      code
        .render(message, settings)
        .map((part) => ({ ...part, ...(listens(settings) && { keyboard: keyboardOf(message) }) })),
    prepare(part, settings, attempt) {
      const prepared = code.prepare?.(part as never, settings, attempt);
      if (prepared === undefined) throw new Error('a preset without a request');
      const topic = withoutTopic.has(settings) ? { message_thread_id: undefined } : {};
      const body = { ...Object(parseJson(prepared.body)), chat_id: chatOf(settings), ...topic };
      return {
        ...prepared,
        body: JSON.stringify({ ...body, ...(part.keyboard && { reply_markup: part.keyboard }) }),
      };
    },
    heard(answer, settings) {
      const said = parseJson(answer.body);
      noteMove(said, settings);
      if (withoutTopic.has(settings) || !topicGone.includes(String(keyOf(said, 'description')))) return false;
      withoutTopic.add(settings);
      return true;
    },
  };
}

/** One alert has all buttons; each of several alerts has one. */
function keyboardOf(message: Message): object | undefined {
  if (message.kind !== 'incidents') return undefined;
  const reader = readerOf(message);
  const [item, ...others] = message.items;
  const draw = ({ label, data }: ChatButton) => ({ text: label, callback_data: data });
  const all = item === undefined ? [] : buttonsOf(item, reader).filter(({ verb }) => verb !== 'quiet1h');
  const rows =
    others.length === 0
      ? [all.slice(0, 2), all.slice(2, 4), all.slice(4)].map((row) => row.map(draw))
      : message.items.slice(0, maxButtonRows).flatMap((each) => {
          const [button] = buttonsOf(each, reader);
          if (button?.verb !== 'acknowledge') return [];
          const name = cleanText(each.accountName, maxNameLength) || each.incident.account;
          const text = cutText(labelled(button.label, `${name} ${each.rule}`), 60);
          return [[{ ...draw(button), text }]];
        });
  const filled = rows.filter((row) => row.length > 0);
  return filled.length === 0 ? undefined : { inline_keyboard: filled };
}

export const telegramChat: PostChat = {
  async standing(settings, { chat, alias, person: { id } }, { clock }) {
    const actors = textBehind(settings.keys.actors) || null;
    // Public names are compared without case (telegram.org/faq).
    const isOwn = (): boolean => [chat, alias?.toLowerCase()].includes(chatOf(settings).toLowerCase());
    if (!isOwn()) await lookUpMove(settings, chat, clock);
    return standingOf(isOwn(), id, actors === null ? null : actors.split(', '));
  },
  listen: openTelegramListener,
};
