import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { createServer, type Socket } from 'node:net';
import { SMTPServer, type SMTPServerOptions } from 'smtp-server';

export interface SmtpReceiver {
  readonly port: number;
  /** Raw messages that were accepted. */
  readonly received: readonly string[];
  readonly recipients: readonly (readonly string[])[];
  close(): Promise<void>;
}

/** A real SMTP server on loopback; `options` decide what it refuses. It offers no STARTTLS unless asked to. */
export async function startSmtpReceiver(options: SMTPServerOptions = {}): Promise<SmtpReceiver> {
  const received: string[] = [];
  const recipients: string[][] = [];
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS'],
    logger: false,
    onData(stream, session, done) {
      const chunks: Buffer[] = [];
      stream.on('data', (chunk: Buffer) => chunks.push(chunk));
      stream.on('end', () => {
        received.push(Buffer.concat(chunks).toString('utf8'));
        recipients.push(session.envelope.rcptTo.map(({ address }) => address));
        done();
      });
    },
    ...options,
  });
  server.on('error', () => undefined);
  server.listen(0, '127.0.0.1');
  await once(server.server, 'listening');
  return {
    port: (server.server.address() as AddressInfo).port,
    received,
    recipients,
    close: () => new Promise((resolve) => server.close(() => resolve())),
  };
}

/** An error that `smtp-server` answers with this code. */
export function smtpReply(code: number, text: string): Error {
  return Object.assign(new Error(text), { responseCode: code });
}

/**
 * A server that speaks just enough SMTP and then does what `afterCommand` says, for what a proper server
 * never does.
 */
export async function startScriptedSmtp(
  reply: (command: string, socket: Socket) => string | null,
): Promise<SmtpReceiver> {
  const received: string[] = [];
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    converse(socket, reply, received);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    received,
    recipients: [],
    close: async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Splits what arrives into commands and messages and answers each in turn. */
function converse(
  socket: Socket,
  reply: (command: string, socket: Socket) => string | null,
  received: string[],
): void {
  let text = '';
  let inData = false;
  const answer = (command: string): void => {
    const line = reply(command, socket);
    if (line !== null) socket.write(`${line}\r\n`);
    inData = line?.startsWith('354') ?? false;
  };
  const takePart = (): string | null => {
    const mark = inData ? '\r\n.\r\n' : '\r\n';
    // An empty message has no line end of its own before the dot.
    if (inData && text.startsWith('.\r\n')) text = `\r\n${text}`;
    const end = text.indexOf(mark);
    if (end < 0) return null;
    const part = text.slice(0, end);
    text = text.slice(end + mark.length);
    return part;
  };
  answer('CONNECT');
  socket.on('data', (chunk: Buffer) => {
    text += chunk.toString('utf8');
    for (let part = takePart(); part !== null; part = takePart()) {
      if (inData) received.push(part);
      answer(inData ? 'MESSAGE' : part);
    }
  });
}

/** A polite server by default; `over` replaces single replies, by the first word of the command. */
export function politeSmtp(
  over: Readonly<Record<string, string | null>>,
): (command: string, socket: Socket) => string | null {
  const replies: Readonly<Record<string, string>> = {
    CONNECT: '220 test ESMTP',
    EHLO: '250 test',
    MAIL: '250 ok',
    RCPT: '250 ok',
    DATA: '354 go on',
    MESSAGE: '250 queued',
    RSET: '250 ok',
    QUIT: '221 bye',
  };
  return (command, socket) => {
    const word = command.split(/[ :]/)[0]?.toUpperCase() ?? '';
    const line = word in over ? (over[word] ?? null) : (replies[word] ?? '502 no such command');
    if (line === 'DROP') {
      socket.destroy();
      return null;
    }
    return line;
  };
}
