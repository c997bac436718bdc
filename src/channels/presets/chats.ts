import type { ChannelKind } from '../kind.ts';
import type { PostChat, PostCode } from '../receiver.ts';
import type { Preset } from './preset.ts';

/** Presets whose chats can be heard: what renders their messages with buttons, and what listens. */
export const presetChats: ReadonlyMap<
  string,
  {
    readonly code: (preset: Preset) => Promise<PostCode>;
    readonly chat: () => Promise<PostChat>;
    readonly demo: NonNullable<ChannelKind['openDemoChat']>;
  }
> = new Map([
  [
    'telegram',
    {
      code: async (preset) => (await import('./telegram-chat.ts')).telegramCode(preset),
      chat: async () => (await import('./telegram-chat.ts')).telegramChat,
      demo: async (received) => (await import('../chats/demo-chats.ts')).openTelegramDemo(received),
    },
  ],
]);
