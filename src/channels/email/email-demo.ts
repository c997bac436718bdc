import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import PostalMime from 'postal-mime';
import { SMTPServer } from 'smtp-server';
import type { DemoReceiver, ReceivedMessage } from '../demo-receiver.ts';

/** Takes mail over SMTP and shows it as a person would see it. */
export async function openMailDemo(received: (message: ReceivedMessage) => void): Promise<DemoReceiver> {
  const smtp = new SMTPServer({
    authOptional: true,
    disabledCommands: ['AUTH', 'STARTTLS'],
    onData(stream, session, done) {
      const take = async (): Promise<void> => {
        const { subject = '', text = '', attachments } = await PostalMime.parse(await buffer(stream));
        const to = session.envelope.rcptTo.map(({ address }) => address).join(', ');
        const charts = attachments.filter(({ mimeType }) => mimeType.startsWith('image/')).length;
        const tail = charts === 0 ? [] : ['', `(${charts === 1 ? 'a chart' : `${charts} charts`} inline)`];
        const lines = [`Subject: ${subject}`, '', ...text.trimEnd().split('\n'), ...tail];
        received({ title: `Email  to ${to}`, lines });
      };
      take().then(() => done(), done);
    },
  });
  await once(smtp.listen(0, '127.0.0.1'), 'listening');
  // A server that listens on TCP has such an address.
  const { port } = smtp.server.address() as AddressInfo;
  return {
    channel: {
      type: 'email',
      smtpUrl: `smtp://127.0.0.1:${port}`,
      from: 'Lowwater <lowwater@example.com>',
      to: ['finance@example.com'],
    },
    close: () => new Promise((resolve) => smtp.close(() => resolve())),
  };
}
