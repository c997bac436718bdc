import PostalMime from 'postal-mime';
import { SMTPServer } from 'smtp-server';
import { type DemoReceiver, listen } from '../demo-receiver.ts';

/** Takes mail over SMTP and shows it as a person would see it. */
export const emailDemoReceiver: DemoReceiver = {
  async listen(received) {
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
            received({
              title: `Email  to ${to}`,
              lines: [
                `Subject: ${mail.subject ?? ''}`,
                '',
                ...(mail.text ?? '').trimEnd().split('\n'),
                ...wordPictures(pictures),
              ],
            });
            done();
          }, done);
        });
      },
    });
    const port = await listen(smtp.server);
    return {
      channel: {
        type: 'email',
        smtpUrl: `smtp://127.0.0.1:${port}`,
        from: 'Lowwater <lowwater@example.com>',
        to: ['finance@example.com'],
      },
      close: () => new Promise((resolve) => smtp.close(() => resolve())),
    };
  },
};

function wordPictures(count: number): readonly string[] {
  return count === 0 ? [] : ['', `(${count === 1 ? 'a chart' : `${count} charts`} inline)`];
}
