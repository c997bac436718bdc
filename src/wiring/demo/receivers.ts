import { createServer, type Server } from 'node:http';
import type { AddressInfo, Server as NetServer } from 'node:net';
import PostalMime from 'postal-mime';
import { SMTPServer } from 'smtp-server';
import type { SlackPayload } from '../../channels/slack/render-slack.ts';

/** A receiver on loopback that hands on what it gets. */
export interface Receiver {
  readonly url: string;
  close(): Promise<void>;
}

const largestBody = 1024 * 1024;

/** A mail as a person would see it. */
export interface ReceivedMail {
  readonly subject: string;
  readonly to: string;
  readonly text: string;
  readonly pictures: number;
}

/** Takes what Slack would take at an incoming webhook, and answers as Slack does. */
export async function receiveSlack(received: (payload: SlackPayload) => void): Promise<Receiver> {
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    let size = 0;
    request.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size <= largestBody) chunks.push(chunk);
    });
    request.on('end', () => {
      // Nobody but the demo's own Slack channel knows this address.
      const payload: SlackPayload = JSON.parse(Buffer.concat(chunks).toString());
      received(payload);
      response.writeHead(200, { 'content-type': 'text/plain' }).end('ok');
    });
  });
  const port = await listen(server);
  return { url: `http://127.0.0.1:${port}/services/DEMO`, close: () => close(server) };
}

/** Takes mail over SMTP. */
export async function receiveMail(received: (mail: ReceivedMail) => void): Promise<Receiver> {
  const smtp = new SMTPServer({
    authOptional: true,
    disabledCommands: ['AUTH', 'STARTTLS'],
    onData(stream, session, done) {
      const chunks: Buffer[] = [];
      stream.on('data', (chunk: Buffer) => chunks.push(chunk));
      stream.on('end', () => {
        const to = session.envelope.rcptTo.map(({ address }) => address).join(', ');
        void PostalMime.parse(Buffer.concat(chunks)).then((mail) => {
          const pictures = mail.attachments.filter(({ mimeType }) => mimeType.startsWith('image/')).length;
          received({ subject: mail.subject ?? '', to, text: mail.text ?? '', pictures });
          done();
        }, done);
      });
    },
  });
  const port = await listen(smtp.server);
  return {
    url: `smtp://127.0.0.1:${port}`,
    close: () => new Promise((resolve) => smtp.close(() => resolve())),
  };
}

/** A free port of this machine, the usual one if it can be had. */
export async function findFreePort(usual: number): Promise<number> {
  const probe = createServer();
  const port = await listen(probe, usual).catch(() => listen(probe));
  await close(probe);
  return port;
}

function listen(server: NetServer, port = 0): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, '127.0.0.1', () => {
      server.off('error', reject);
      // A server that listens on TCP has such an address.
      resolve((server.address() as AddressInfo).port);
    });
  });
}

function close(server: Server): Promise<void> {
  server.closeAllConnections();
  return new Promise((resolve) => server.close(() => resolve()));
}
