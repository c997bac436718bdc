import * as z from 'zod';
import { keepPromise } from '../daemon/keep-promise.ts';
import type { ChannelSettings } from '../domain/settings.ts';
import { minuteMs } from '../domain/time.ts';
import { errorCodes, explainConnectError } from '../net/connect-error.ts';
import type { Channel, ChannelListener, Delivery } from '../ports/channel.ts';
import { languageKey } from '../schema/shapes.ts';
import { listWords } from '../wording/lists.ts';
import { sentences } from '../wording/phrase.ts';
import { alertmanagerKind } from './alertmanager/alertmanager-kind.ts';
import { unheard } from './chats/keep-listening.ts';
import dingtalk from './dingtalk/dingtalk.json' with { type: 'json' };
import { emailKind } from './email/email-kind.ts';
import feishu from './feishu/feishu.json' with { type: 'json' };
import type { ChannelKind, SenderDependencies } from './kind.ts';
import pagerduty from './pagerduty/pagerduty.json' with { type: 'json' };
import { postKind } from './post-kind.ts';
import * as presetFiles from './presets/all-presets.ts';
import { presetChats } from './presets/chats.ts';
import type { Preset } from './presets/preset.ts';
import type { Receiver } from './receiver.ts';
import { slackKind } from './slack/slack-kind.ts';
import teams from './teams/teams.json' with { type: 'json' };
import { webhookKind } from './webhook/webhook-kind.ts';
import wecom from './wecom/wecom.json' with { type: 'json' };

const told = sentences('channel', {
  notLoaded: 'its code cannot be loaded: lowwater was perhaps replaced on disk, which takes a restart',
});

/** Receivers that are described by data. A test checks the files by their schema: at each start that would cost milliseconds. */
export const presets = Object.values(presetFiles) as readonly Preset[];

/** Every kind of channel. Nothing else in the program lists them. */
export const channelKinds: readonly [ChannelKind, ...ChannelKind[]] = [
  slackKind,
  emailKind,
  webhookKind,
  alertmanagerKind,
  postKind(teams as Receiver, () => import('./teams/teams-robot.ts')),
  postKind(dingtalk as Receiver, () => import('./dingtalk/dingtalk-robot.ts')),
  postKind(feishu as Receiver, () => import('./feishu/feishu-robot.ts')),
  postKind(wecom as Receiver, () => import('./wecom/wecom-robot.ts')),
  postKind(pagerduty as Receiver, () => import('./pagerduty/render-pagerduty.ts')),
  ...presets.map((preset) => {
    const heard = presetChats.get(preset.type);
    if (heard !== undefined) return postKind(preset, () => heard.code(preset), heard.chat, heard.demo);
    return postKind(preset, async () => (await import('./presets/preset-parts.ts')).codeOf(preset));
  }),
];

const [firstKind, ...otherKinds] = channelKinds;

/** Keys that every kind of channel has in addition to its own. */
const commonKeys = {
  language: languageKey('The language of its messages. Default: `language` at the top.').optional(),
};

function inLanguage({ schema }: ChannelKind): z.ZodObject {
  return schema.extend(commonKeys);
}

export const channelSchema = z.discriminatedUnion(
  'type',
  [inLanguage(firstKind), ...otherKinds.map(inLanguage)],
  {
    error: (issue) =>
      issue.code === 'invalid_union'
        ? `must be ${listWords(channelKinds.map(({ type }) => type))}`
        : 'must be an object in braces',
  },
);

/** The kind of a channel. Throws for a type that no kind has, which the schema refuses. */
export function kindOf({ type }: { readonly type: string }): ChannelKind {
  const kind = channelKinds.find((candidate) => candidate.type === type);
  if (kind === undefined) throw new Error(`there is no kind of channel called ${type}`);
  return kind;
}

/** Settings from a part of the file that `channelSchema` let through. */
export function buildChannel(name: string, config: z.output<typeof channelSchema>): ChannelSettings {
  const { language, ...own } = config;
  const type = String(own.type);
  const settings = kindOf({ type }).build(name, { ...own, type });
  return language === undefined ? settings : { ...settings, language: String(language) };
}

/** Loads at once what the kind needs, so that the first message does not wait for it. Opens no connection before that message. */
export function createChannel(settings: ChannelSettings, dependencies: SenderDependencies): Channel {
  const kind = kindOf(settings);
  const sender = keepPromise(() => kind.openSender(settings, dependencies));
  void sender().catch(() => undefined);
  const chat = kind.chatOf?.(settings, dependencies) ?? null;
  return {
    name: settings.name,
    threadsBySubject: kind.threadsBySubject ?? false,
    drawsAlerts: kind.drawsAlerts ?? false,
    ...(kind.restateEveryMs === undefined ? {} : { restateEveryMs: kind.restateEveryMs }),
    ...kind.pace(settings),
    send: (message, signal) =>
      sender().then(
        (opened) => opened.send(message, signal),
        (error): Delivery => ({ kind: 'retry', certainty: 'refused', reason: notLoaded(error) }),
      ),
    preview: async (message) => (await sender()).preview(message),
    close: async () => (await sender().catch(() => undefined))?.close(),
    ...(chat && {
      chat: { ...chat, listen: (answer) => loadListener(() => chat.listen(answer), dependencies) },
    }),
  };
}

/** Why the code was not loaded: no file descriptor is left, or the program's files were replaced while it runs. The next attempt loads it. */
function notLoaded(error: unknown): string {
  return explainConnectError(errorCodes(error)) ?? told.notLoaded();
}

/** A listener whose code is loaded first, again after a minute if that failed. */
function loadListener(
  listen: () => Promise<ChannelListener>,
  { clock }: SenderDependencies,
): ChannelListener {
  let loaded: ChannelListener | null = null;
  let cancel = (): void => {};
  let problem = { since: clock.now(), reason: unheard.notYet() };
  const load = (): Promise<void> =>
    listen().then(
      (listener) => {
        loaded = listener;
      },
      (error) => {
        problem = { ...problem, reason: notLoaded(error) };
        cancel = clock.setTimer(minuteMs, () => {
          loading = load();
        });
      },
    );
  let loading = load();
  return {
    problem: () => (loaded === null ? problem : loaded.problem()),
    async close() {
      await loading;
      cancel();
      await loaded?.close();
    },
  };
}
