import { isLoopbackHost } from '../../domain/addresses.ts';
import type { Secret } from '../../domain/secret.ts';
import { minuteMs } from '../../domain/time.ts';

export type SmtpServer = ReturnType<typeof readSmtpUrl>;

/**
 * Reads `smtp://user:password@host:port` or `smtps://…`; user and password are percent-decoded. Ports default to 587 and 465. Clear text is
 * used only to a server on this host or with `allowInsecure`, and only if the server offers no STARTTLS. Throws for any other URL, which the
 * schema refuses.
 */
export function readSmtpUrl(smtpUrl: Secret, allowInsecure: boolean) {
  const { protocol, hostname, port, username, password } = new URL(smtpUrl.reveal());
  const secure = protocol === 'smtps:';
  const host = hostname.replace(/^\[|\]$/g, '');
  return {
    host,
    port: port === '' ? (secure ? 465 : 587) : Number(port),
    /** TLS from the first byte (`smtps:`). */
    secure,
    /** STARTTLS or nothing: no mail and no password in clear text. */
    requireTls: !secure && !allowInsecure && !isLoopbackHost(host),
    login:
      username === '' ? null : { user: decodeURIComponent(username), password: decodeURIComponent(password) },
  };
}

/** The time that a server may take, by RFC 5321, 4.5.3.2. It may write the message to its disk before it confirms it. */
const limits = {
  greeting: 5 * minuteMs,
  command: 5 * minuteMs,
  data: 2 * minuteMs,
  message: 10 * minuteMs,
  finalDot: 10 * minuteMs,
} as const;

export const longestSmtpWaitMs = limits.finalDot;

/** Follows a conversation with a mail server by nodemailer's logger: knows how far it has come, and gives each step its time. */
export class SmtpWatch {
  readonly #allow: (ms: number) => void;
  readonly #breakOff: () => void;
  #stage: 'commands' | 'data' | 'message' | 'ended' = 'commands';
  /** The server said yes before it had the message. That is no answer to the message, which was not handed over. */
  strayReply = false;

  constructor(allow: (ms: number) => void, breakOff: () => void) {
    this.#allow = allow;
    this.#breakOff = breakOff;
  }

  /** The server asked for the message: from here on a lost answer leaves it unknown whether it was taken. */
  get dataStarted(): boolean {
    return this.#stage === 'message' || this.#stage === 'ended';
  }

  connected(): void {
    this.#allow(limits.greeting);
  }

  /** A logger in nodemailer's form. */
  get logger() {
    const note = (...[data, text]: unknown[]): void => {
      const kind: unknown = Reflect.get(Object(data), 'tnx');
      if (kind === 'client') this.#noteCommand(String(text));
      else if (kind === 'server') this.#noteReply(String(text));
      else if (kind === 'message') {
        this.#stage = 'ended';
        this.#allow(limits.finalDot);
      }
    };
    const ignore = (): void => undefined;
    return { trace: ignore, debug: note, info: note, warn: ignore, error: ignore, fatal: ignore };
  }

  #noteCommand(command: string): void {
    const isData = command === 'DATA';
    if (!this.dataStarted) this.#stage = isData ? 'data' : 'commands';
    // A server that asks for a message to nobody gets an empty one, and may take it (RFC 2920, 3.1).
    if (command === '.') this.#stage = 'ended';
    this.#allow(isData ? limits.data : limits.command);
  }

  #noteReply(reply: string): void {
    if (this.#stage === 'message' && reply.startsWith('2')) {
      this.strayReply = true;
      this.#breakOff();
    } else if (this.#stage === 'data' && reply.startsWith('3')) {
      this.#stage = 'message';
      this.#allow(limits.message);
    } else this.#allow(limits.command);
  }
}
