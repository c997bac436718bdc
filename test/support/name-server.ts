import { createSocket } from 'node:dgram';
import { once } from 'node:events';

/** The server's way with a question about a name: it answers with addresses, with an error code, or not at all. Of version 6 it knows `::1`. */
export type NameAnswer = readonly string[] | 'no-such-name' | 'server-failure' | 'silence';

export interface NameServer {
  /** As a resolver takes it. */
  readonly address: string;
  /** Names that were asked for, by their type: `A name`. */
  readonly questions: readonly string[];
  /** By name, or by type and name: `A name`. */
  answers: Readonly<Record<string, NameAnswer>>;
  close(): Promise<void>;
}

/** A name server on loopback that speaks DNS over UDP (RFC 1035). It leaves unanswered what it does not know. */
export async function startNameServer(
  answers: Readonly<Record<string, NameAnswer>>,
  ttlSeconds = 60,
): Promise<NameServer> {
  const socket = createSocket('udp4');
  const questions: string[] = [];
  const server = {
    questions,
    answers,
    address: '',
    close: () => new Promise<void>((resolve) => socket.close(() => resolve())),
  };
  socket.on('message', (question, { port, address }) => {
    const { name, type, end } = readQuestion(question);
    const asked = `${type === 1 ? 'A' : 'AAAA'} ${name}`;
    questions.push(asked);
    const answer = server.answers[asked] ?? server.answers[name] ?? 'silence';
    if (answer !== 'silence')
      socket.send(writeAnswer(question.subarray(0, end), { type, answer, ttlSeconds }), port, address);
  });
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  server.address = `127.0.0.1:${socket.address().port}`;
  return server;
}

function readQuestion(message: Buffer): { name: string; type: number; end: number } {
  const labels: string[] = [];
  let at = 12;
  for (let length = message.readUInt8(at); length > 0; length = message.readUInt8(at)) {
    labels.push(message.toString('latin1', at + 1, at + 1 + length));
    at += length + 1;
  }
  return { name: labels.join('.'), type: message.readUInt16BE(at + 1), end: at + 5 };
}

function writeAnswer(
  question: Buffer,
  it: { readonly type: number; readonly answer: Exclude<NameAnswer, 'silence'>; readonly ttlSeconds: number },
): Buffer {
  const given = typeof it.answer === 'string' ? [] : it.answer;
  const addresses = given.filter((address) => (it.type === 1) === address.includes('.'));
  const head = Buffer.from(question);
  const code = { 'no-such-name': 3, 'server-failure': 2 }[String(it.answer)] ?? 0;
  head.writeUInt16BE(0x8180 | code, 2);
  head.writeUInt16BE(addresses.length, 6);
  head.writeUInt32BE(0, 8);
  const records = addresses.map((address) => {
    const bytes = it.type === 1 ? address.split('.').map(Number) : [...Array(15).fill(0), 1];
    const record = Buffer.alloc(12 + bytes.length);
    // The name is that of the question, at byte 12.
    record.writeUInt16BE(0xc00c, 0);
    record.writeUInt16BE(it.type, 2);
    record.writeUInt16BE(1, 4);
    record.writeUInt32BE(it.ttlSeconds, 6);
    record.writeUInt16BE(bytes.length, 10);
    Buffer.from(bytes).copy(record, 12);
    return record;
  });
  return Buffer.concat([head, ...records]);
}
