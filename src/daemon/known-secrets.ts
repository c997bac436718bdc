import type { Secret } from '../domain/secret.ts';
import type { ChannelSettings, Settings } from '../domain/settings.ts';

/**
 * Every text that must not leave the process: the secrets of the configuration, and the parts of them that
 * libraries quote by themselves (the path of an address that is a credential, the password in one).
 */
export function listSecretTexts(settings: Settings): string[] {
  const texts = settings.accounts.map((account) => account.authSecret.reveal());
  for (const channel of settings.channels) texts.push(...channelSecretTexts(channel));
  if (settings.server?.token) texts.push(settings.server.token.reveal());
  if (settings.heartbeat !== null) texts.push(...addressTexts(settings.heartbeat.url));
  return texts.filter((text) => text !== '');
}

function channelSecretTexts(channel: ChannelSettings): string[] {
  switch (channel.type) {
    case 'slack':
      return addressTexts(channel.webhookUrl);
    case 'webhook':
      return [...addressTexts(channel.url), ...reveal(channel.secret)];
    case 'email':
      return [
        ...addressTexts(channel.smtpUrl),
        ...reveal(channel.oauth2?.clientSecret ?? null),
        ...reveal(channel.oauth2?.refreshToken ?? null),
      ];
  }
}

function addressTexts(address: Secret): string[] {
  const text = address.reveal();
  const url = URL.parse(text);
  if (url === null) return [text];
  const path = url.pathname + url.search;
  // A short path such as "/" or "/ping" is no credential, and hiding it would black out ordinary text.
  const quotable = path.length > 8 ? [path] : [];
  return [text, ...quotable, url.password, decode(url.password)];
}

function decode(encoded: string): string {
  try {
    return decodeURIComponent(encoded);
  } catch {
    return encoded;
  }
}

function reveal(secret: Secret | null): string[] {
  return secret === null ? [] : [secret.reveal()];
}
