import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { exampleKeys } from '../../src/channels/post-kind.ts';
import { channelKinds, presets } from '../../src/channels/registry.ts';
import type { ChannelSettings } from '../../src/domain/settings.ts';
import { loadValid, sample, sampleSecrets } from '../config/sample.ts';

const root = join(import.meta.dirname, '..', '..');
export const exampleConfig = readFileSync(join(root, 'config.example.json'), 'utf8');

/** A value for every variable that config.example.json names. */
export const exampleEnv = {
  TWILIO_ACCOUNT_SID: 'AC0123456789abcdef0123456789abcdef',
  TWILIO_AUTH_TOKEN: 'token-of-twilio',
  ...sampleSecrets,
  MARKETING_AUTH_SECRET: 'marketing-key-1',
  PAGER_URL: 'https://pager.example.com/in/1',
  PAGER_SECRET: sampleSecrets.HOOK_SECRET,
  TEAMS_WEBHOOK_URL:
    'https://example.logic.azure.com/workflows/1/triggers/manual/paths/invoke?sig=teamscredential9',
  DINGTALK_WEBHOOK_URL: 'https://oapi.dingtalk.com/robot/send?access_token=dingtalkcredential9',
  DINGTALK_SECRET: 'SEC4f1e7b2a90c35d6e',
  FEISHU_WEBHOOK_URL: 'https://open.feishu.cn/open-apis/bot/v2/hook/feishucredential9',
  FEISHU_SECRET: 'feishu-signing-key-1',
  WECOM_WEBHOOK_URL: 'https://qyapi.weixin.qq.com/cgi-bin/webhook/send?key=wecomcredential9',
  PAGERDUTY_ROUTING_KEY: '0123456789abcdef0123456789abcdef',
};

let examples: readonly ChannelSettings[] | null = null;

/** A channel of every registered kind, in their order: from config.example.json, or as the guide of its preset writes it. */
export function exampleChannels(): readonly ChannelSettings[] {
  examples ??= readExamples();
  return examples;
}

function readExamples(): readonly ChannelSettings[] {
  const own = loadValid(exampleConfig, { env: exampleEnv }).settings.channels;
  const channels = Object.fromEntries(
    presets.map((preset) => [preset.type, { type: preset.type, ...exampleKeys(preset) }]),
  );
  const described = loadValid({ ...sample(), channels, routes: [] }).settings.channels;
  return channelKinds.map(({ type }) => {
    const example = [...own, ...described].find((channel) => channel.type === type);
    if (example === undefined) throw new Error(`config.example.json has no channel of type ${type}`);
    return example;
  });
}
