import { connect, type Socket } from 'node:net';
import { hostname } from 'node:os';
import { createTransport, type SendMailOptions } from 'nodemailer';
import { createForeignTexts } from '../../domain/foreign-text.ts';
import type { Message } from '../../domain/message.ts';
import type { Secret } from '../../domain/secret.ts';
import type { ChannelSettings, Mailbox } from '../../domain/settings.ts';
import { startDeadline } from '../../net/deadline.ts';
import { nameLookup } from '../../net/name-lookup.ts';
import type { Delivery } from '../../ports/channel.ts';
import { tryRender } from '../deliver-parts.ts';
import type { Sender, SenderDependencies } from '../kind.ts';
import {
  classifyRefusedRecipients,
  classifySmtpError,
  isTooLarge,
  quoteReply,
  type ReplyTexts,
  strayReply,
} from './classify-smtp.ts';
import { drawChart } from './draw-chart.ts';
import { type ChartPlan, planCharts } from './email-charts.ts';
import { type RenderedEmail, renderEmail } from './render-email.ts';
import { longestSmtpWaitMs, readSmtpUrl, type SmtpServer, SmtpWatch } from './smtp-connection.ts';

export interface EmailSettings extends ChannelSettings {
  readonly smtpUrl: Secret;
  readonly from: Mailbox;
  readonly to: readonly Mailbox[];
  readonly allowInsecure: boolean;
  readonly oauth2: {
    readonly user: string;
    readonly clientId: string;
    readonly clientSecret: Secret;
    readonly refreshToken: Secret;
    readonly accessUrl: string;
  } | null;
}

type EmailSenderOptions = SenderDependencies & { readonly settings: EmailSettings };

const connectTimeoutMs = 30_000;

const oldTls = { rejectUnauthorized: false, minVersion: 'TLSv1', ciphers: 'DEFAULT@SECLEVEL=0' } as const;

/** Sends mails by SMTP, over a new connection each time: alerts are rare, and a kept connection may be dead when it matters. */
export function openEmailSender(options: EmailSenderOptions): Sender {
  const { settings } = options;
  const server = readSmtpUrl(settings.smtpUrl, settings.allowInsecure);
  const token = { accessToken: '', expires: 0 };
  return {
    async send(message, outer) {
      const plans = tryRender(() => planCharts(message));
      if ('failed' in plans) return plans.failed;
      const to = settings.to
        .map(({ address }) => address)
        .filter((address) =>
          message.recipients ? isNamed(address, message.recipients) : !isNamed(address, message.except),
        );
      // None of those who were owed the message is still in the configuration.
      if (to.length === 0) return { kind: 'delivered' };
      const drawn = await drawCharts(plans.rendered);
      const mails = tryRender(() =>
        // A message that is too large with its charts may pass without them.
        (drawn.length === 0 ? [[]] : [drawn, []]).map((charts) => composeMail(message, settings, charts, to)),
      );
      if ('failed' in mails) return mails.failed;
      return transmit({ mails: mails.rendered, server, token, options, outer });
    },
    preview: async (message) => {
      const { subject, text } = renderEmail(message, { ...settings, charts: [] });
      return `Subject: ${subject}\n\n${text}`;
    },
    close: () => Promise.resolve(),
  };
}

/** Whether an address is among `names`. Nodemailer writes refused recipients with the domain in small letters. */
function isNamed(address: string, names: readonly string[] = []): boolean {
  return names.some((name) => name.toLowerCase() === address.toLowerCase());
}

export async function composeEmail(message: Message, settings: Pick<EmailSettings, 'from' | 'to'>) {
  return composeMail(message, settings, await drawCharts(planCharts(message)));
}

/** `to`: those who are still owed the message. The headers name all recipients. */
function composeMail(
  message: Message,
  settings: Pick<EmailSettings, 'from' | 'to'>,
  drawn: readonly DrawnChart[],
  to = settings.to.map(({ address }) => address),
) {
  const mail = renderEmail(message, { ...settings, charts: drawn.map(({ plan }) => plan) });
  return {
    ...mail,
    envelope: { from: mail.from.address, to, ...(drawn.length === 0 ? {} : { size: sizeOf(mail, drawn) }) },
    attachments: drawn.map(({ plan, png }, index) => ({
      filename: `balance-${index + 1}.png`,
      content: png,
      contentType: 'image/png',
      contentDisposition: 'inline' as const,
      cid: plan.cid,
    })),
  };
}

/** The approximate bytes of the mail on its way. If a server says how many it takes, a larger mail goes without charts at once. */
function sizeOf({ text, html }: RenderedEmail, drawn: readonly DrawnChart[]): number {
  return drawn.reduce((bytes, { png }) => bytes + Math.ceil((png.length * 4) / 3), text.length + html.length);
}

interface DrawnChart {
  readonly plan: ChartPlan;
  readonly png: Buffer;
}

/** Draws one after the other: together they would need many times the memory of one. */
async function drawCharts(plans: readonly ChartPlan[]): Promise<readonly DrawnChart[]> {
  const drawn: DrawnChart[] = [];
  for (const plan of plans) {
    const png = await drawChart(plan.drawing);
    if (png !== null) drawn.push({ plan, png });
  }
  return drawn;
}

interface Transmission {
  /** The mail, and the one that is sent in its place if it is too large. */
  readonly mails: readonly SendMailOptions[];
  readonly server: SmtpServer;
  /** The last OAuth 2 token, used for the mails that follow until it expires. */
  readonly token: { accessToken: string; expires: number };
  readonly options: EmailSenderOptions;
  readonly outer: AbortSignal;
}

async function transmit(order: Transmission): Promise<Delivery> {
  const { server, options, outer } = order;
  const [mail, ...smaller] = order.mails;
  const deadline = startDeadline({ clock: options.clock, afterMs: connectTimeoutMs, outer });
  const sockets: Socket[] = [];
  const watch = new SmtpWatch(deadline.restart, () => sockets[0]?.destroy());
  const transporter = createTransport({
    host: server.host,
    port: server.port,
    // A container's name is no domain. Nodemailer then says [127.0.0.1], which the relay of Google answers with 421.
    ...(hostname().includes('.') ? {} : { name: options.settings.from.address.replace(/^.*@/, '') }),
    secure: server.secure,
    requireTLS: server.requireTls,
    // Where clear text is allowed, encryption that proves nothing, or is as old as the relay, is still better than none.
    opportunisticTLS: !server.requireTls,
    tls: server.secure || server.requireTls ? { rejectUnauthorized: true } : oldTls,
    getSocket: (_options: unknown, done: (error: Error | null, socket?: object) => void) => {
      // Tries all addresses of the server. Nodemailer by itself would at last look up the name in the thread pool.
      const socket = connect({ host: server.host, port: server.port, lookup: nameLookup(options.clock) });
      sockets.push(socket);
      socket.on('error', done).once('connect', () => {
        socket.off('error', done).on('error', () => undefined);
        watch.connected();
        done(null, { connection: socket });
      });
    },
    // Each step has its own time; nodemailer's limits only have to be longer.
    connectionTimeout: 2 * longestSmtpWaitMs,
    greetingTimeout: 2 * longestSmtpWaitMs,
    socketTimeout: 2 * longestSmtpWaitMs,
    socketCloseTimeout: 1000,
    maxResponseSize: 64 * 1024,
    disableFileAccess: true,
    disableUrlAccess: true,
    transactionLog: true,
    logger: watch.logger,
    ...loginOf(order),
  });
  transporter.on('token', ({ accessToken, expires }) => Object.assign(order.token, { accessToken, expires }));
  try {
    const sent = await transporter.sendMail({ ...mail, signal: deadline.signal });
    if (watch.strayReply) return strayReply;
    const said = `the mail server answered ${quoteReply(sent.response ?? '', textsOf(order))}`;
    return {
      kind: 'delivered',
      said,
      ...classifyRefusedRecipients(sent.rejectedErrors ?? [], textsOf(order)),
    };
  } catch (error) {
    if (watch.strayReply) return strayReply;
    if (smaller.length > 0 && isTooLarge(error)) return await transmit({ ...order, mails: smaller });
    return classifySmtpError(error, {
      dataStarted: watch.dataStarted,
      expired: deadline.expired(),
      gaveUp: outer.aborted,
      texts: textsOf(order),
    });
  } finally {
    deadline.clear();
    transporter.close();
    sockets[0]?.destroySoon();
  }
}

/** The filter of a reply. The configuration does not have the OAuth 2 token, because another one comes every hour. */
function textsOf({ token, options }: Transmission): ReplyTexts {
  if (token.accessToken === '') return options.texts;
  const ofToken = createForeignTexts([token.accessToken]);
  return { clean: (text, limit) => options.texts.clean(ofToken.clean(text, text.length), limit) };
}

function loginOf(order: Transmission): { readonly auth?: object } {
  const { oauth2 } = order.options.settings;
  if (oauth2 !== null) {
    return {
      auth: {
        type: 'OAuth2',
        user: oauth2.user,
        clientId: oauth2.clientId,
        clientSecret: oauth2.clientSecret.reveal(),
        refreshToken: oauth2.refreshToken.reveal(),
        accessUrl: oauth2.accessUrl,
        requestTimeout: 10_000,
        ...(order.token.accessToken === '' ? {} : order.token),
      },
    };
  }
  const { login } = order.server;
  return login === null ? {} : { auth: { user: login.user, pass: login.password } };
}
