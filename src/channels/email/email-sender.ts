import type { SendMailOptions } from 'nodemailer';
import { createForeignTexts } from '../../domain/foreign-text.ts';
import type { Message } from '../../domain/message.ts';
import { startDeadline } from '../../net/deadline.ts';
import type { Delivery } from '../../ports/channel.ts';
import type { Sender, SenderDependencies } from '../kind.ts';
import { tryRender } from '../rendering.ts';
import {
  classifyRefusedRecipients,
  classifySmtpError,
  isTooLarge,
  quoteReply,
  type ReplyTexts,
} from './classify-smtp.ts';
import { drawChart } from './draw-chart.ts';
import { type ChartPlan, planCharts } from './email-charts.ts';
import type { EmailSettings } from './email-settings.ts';
import { renderEmail } from './render-email.ts';
import { readSmtpUrl, type SmtpServer } from './smtp-settings.ts';

export interface EmailSenderOptions extends SenderDependencies {
  readonly settings: EmailSettings;
  readonly connectTimeoutMs?: number;
  /** For the whole exchange, from the lookup of the host name to the last reply. */
  readonly timeoutMs?: number;
}

/**
 * Mails by SMTP, over a fresh connection each time: alerts are rare, and a connection kept
 * open is one more that can be dead when it matters.
 */
export function openEmailSender(options: EmailSenderOptions): Sender {
  const { settings } = options;
  const server = readSmtpUrl(settings.smtpUrl, settings.allowInsecure);
  const token = { accessToken: '', expires: 0 };
  return {
    async send(message, outer) {
      if (server === null)
        return { kind: 'dead', reason: 'the address of the mail server is no smtp:// or smtps:// URL' };
      const plans = tryRender(() => planCharts(message));
      if ('failed' in plans) return plans.failed;
      const to = settings.to
        .map(({ address }) => address)
        .filter((address) => message.recipients?.includes(address) ?? true);
      // Those who were owed the message stand in the configuration no more.
      if (to.length === 0) return { kind: 'delivered' };
      const drawn = await drawCharts(plans.rendered);
      const mails = tryRender(() =>
        // Without its charts it may pass where it is too large with them.
        (drawn.length === 0 ? [[]] : [drawn, []]).map((charts) => {
          const mail = composeMail(message, settings, charts);
          return { ...mail, envelope: { ...mail.envelope, to } };
        }),
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

/** A mail with its pictures drawn. */
export async function composeEmail(
  message: Message,
  settings: Pick<EmailSettings, 'from' | 'to'>,
): Promise<SendMailOptions & { readonly envelope: { readonly from: string; readonly to: string[] } }> {
  return composeMail(message, settings, await drawCharts(planCharts(message)));
}

function composeMail(
  message: Message,
  settings: Pick<EmailSettings, 'from' | 'to'>,
  drawn: readonly DrawnChart[],
): Awaited<ReturnType<typeof composeEmail>> {
  const mail = renderEmail(message, { ...settings, charts: drawn.map(({ plan }) => plan) });
  return {
    ...mail,
    envelope: { from: mail.from.address, to: mail.to.map(({ address }) => address) },
    attachments: drawn.map(({ plan, png }, index) => ({
      filename: `balance-${index + 1}.png`,
      content: png,
      contentType: 'image/png',
      contentDisposition: 'inline',
      cid: plan.cid,
    })),
  };
}

interface DrawnChart {
  readonly plan: ChartPlan;
  readonly png: Buffer;
}

/** One after the other: together they would hold many times the memory of one. */
async function drawCharts(plans: readonly ChartPlan[]): Promise<readonly DrawnChart[]> {
  const drawn: DrawnChart[] = [];
  for (const plan of plans) {
    const png = await drawChart(plan.drawing);
    if (png !== null) drawn.push({ plan, png });
  }
  return drawn;
}

interface Transmission {
  /** The mail, and what is sent in its place where it is too large. */
  readonly mails: readonly SendMailOptions[];
  readonly server: SmtpServer;
  /** The last OAuth 2 token: good for the mails that follow until it expires. */
  readonly token: { accessToken: string; expires: number };
  readonly options: EmailSenderOptions;
  readonly outer: AbortSignal;
}

async function transmit(order: Transmission): Promise<Delivery> {
  const { server, options, outer } = order;
  const [mail, ...smaller] = order.mails;
  // Loaded by the first mail: whoever sends none does without its 15 MB.
  const { createTransport } = await import('nodemailer');
  const deadline = startDeadline({ clock: options.clock, afterMs: options.timeoutMs ?? 30_000, outer });
  let dataStarted = false;
  const transporter = createTransport({
    host: server.host,
    port: server.port,
    secure: server.secure,
    requireTLS: server.requireTls,
    // Where clear text is allowed, encryption without a trusted certificate is still better than none.
    opportunisticTLS: !server.requireTls,
    tls: { rejectUnauthorized: server.secure || server.requireTls },
    connectionTimeout: options.connectTimeoutMs ?? 10_000,
    greetingTimeout: options.connectTimeoutMs ?? 10_000,
    dnsTimeout: options.connectTimeoutMs ?? 10_000,
    socketTimeout: options.timeoutMs ?? 30_000,
    socketCloseTimeout: 1000,
    maxResponseSize: 64 * 1024,
    disableFileAccess: true,
    disableUrlAccess: true,
    transactionLog: true,
    logger: commandObserver(() => {
      dataStarted = true;
    }),
    ...loginOf(order),
  });
  transporter.on('token', ({ accessToken, expires }) => Object.assign(order.token, { accessToken, expires }));
  try {
    const sent = await transporter.sendMail({ ...mail, signal: deadline.signal });
    const said = `the mail server answered ${quoteReply(sent.response ?? '', textsOf(order))}`;
    return {
      kind: 'delivered',
      said,
      ...classifyRefusedRecipients(sent.rejectedErrors ?? [], textsOf(order)),
    };
  } catch (error) {
    if (smaller.length > 0 && isTooLarge(error)) return await transmit({ ...order, mails: smaller });
    return classifySmtpError(error, {
      dataStarted,
      expired: deadline.expired(),
      gaveUp: outer.aborted,
      texts: textsOf(order),
    });
  } finally {
    deadline.clear();
    transporter.close();
  }
}

/** What a reply goes through: a token of OAuth 2 stands in no configuration, and another one comes every hour. */
function textsOf({ token, options }: Transmission): ReplyTexts {
  if (token.accessToken === '') return options.texts;
  const ofToken = createForeignTexts([token.accessToken]);
  return { clean: (text, limit) => options.texts.clean(ofToken.clean(text, limit * 8), limit) };
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

/**
 * Nodemailer tells its logger each command and reply, and nobody else whether a message was on its way when
 * an exchange broke off. This logger keeps nothing: it only notices that the server asked for the message.
 */
function commandObserver(
  onData: () => void,
): Record<'trace' | 'debug' | 'info' | 'warn' | 'error' | 'fatal', (...entry: unknown[]) => void> {
  const ignore = (): void => undefined;
  let dataSent = false;
  const debug = (...[data, text]: unknown[]): void => {
    const kind = typeof data === 'object' && data !== null && 'tnx' in data ? data.tnx : null;
    if (kind === 'client' && text === 'DATA') dataSent = true;
    if (kind === 'server' && dataSent && typeof text === 'string' && /^3/.test(text)) onData();
  };
  return { trace: ignore, debug, info: ignore, warn: ignore, error: ignore, fatal: ignore };
}
