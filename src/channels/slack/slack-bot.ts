import type { Secret } from '../../domain/secret.ts';

export interface SlackBot {
  readonly botToken: Secret;
  /** Its name with `#`, or its id. */
  readonly channel: string;
  readonly apiUrl: string;
  /** How people act there; null where they do not. */
  readonly chat: SlackChat | null;
}

/** How a bot hears its channel. */
export interface SlackChat {
  readonly appToken: Secret;
  /** Null: everybody in the channel. */
  readonly actors: readonly string[] | null;
}
