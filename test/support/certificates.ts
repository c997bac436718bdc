import { generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto';

/** A certificate with its key, made for one test run: nothing private lies in the repository. */
export interface Issued {
  readonly name: string;
  readonly key: string;
  readonly cert: string;
  readonly privateKey: KeyObject;
}

export interface Order {
  readonly name: string;
  /** Host names or IPv4 addresses. */
  readonly hosts?: readonly string[];
  readonly notBefore?: Date;
  readonly notAfter?: Date;
  /** Who signs; itself by default. */
  readonly issuer?: Issued;
  readonly authority?: boolean;
  /** The curve of its key; P-256 by default. */
  readonly curve?: string;
}

/** Issues an X.509 v3 certificate (RFC 5280) with an EC key, in as much DER as that takes. */
export function issueCertificate(order: Order): Issued {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: order.curve ?? 'P-256' });
  const { name, issuer, notBefore = new Date('2020-01-01'), notAfter = new Date('2120-01-01') } = order;
  const algorithm = sequence(oid(0x2a, 0x86, 0x48, 0xce, 0x3d, 0x04, 0x03, 0x02));
  const toBeSigned = sequence(
    der(0xa0, integer(Buffer.of(2))),
    integer(Buffer.concat([Buffer.of(1), randomBytes(8)])),
    algorithm,
    distinguishedName(issuer?.name ?? name),
    sequence(time(notBefore), time(notAfter)),
    distinguishedName(name),
    publicKey.export({ type: 'spki', format: 'der' }),
    der(0xa3, sequence(...extensions(order))),
  );
  const signature = sign('sha256', toBeSigned, issuer?.privateKey ?? privateKey);
  const certificate = sequence(toBeSigned, algorithm, der(0x03, Buffer.of(0), signature));
  const base64 = certificate.toString('base64').replace(/.{1,64}/g, '$&\n');
  return {
    name,
    privateKey,
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    cert: `-----BEGIN CERTIFICATE-----\n${base64}-----END CERTIFICATE-----\n`,
  };
}

function extensions({ hosts = [], authority = false }: Order): Buffer[] {
  const names = hosts.map((host) =>
    /^[\d.]+$/.test(host)
      ? der(0x87, Buffer.from(host.split('.').map(Number)))
      : der(0x82, Buffer.from(host)),
  );
  const alternativeNames = sequence(oid(0x55, 0x1d, 0x11), der(0x04, sequence(...names)));
  const constraints = sequence(oid(0x55, 0x1d, 0x13), boolean(true), der(0x04, sequence(boolean(authority))));
  return names.length > 0 ? [alternativeNames, constraints] : [constraints];
}

function distinguishedName(name: string): Buffer {
  return sequence(der(0x31, sequence(oid(0x55, 0x04, 0x03), der(0x0c, Buffer.from(name)))));
}

function time(at: Date): Buffer {
  return der(0x18, Buffer.from(`${at.toISOString().replace(/[-:T]/g, '').slice(0, 14)}Z`));
}

function integer(bytes: Buffer): Buffer {
  return der(0x02, bytes);
}

function boolean(value: boolean): Buffer {
  return value ? der(0x01, Buffer.of(0xff)) : Buffer.alloc(0);
}

function oid(...bytes: number[]): Buffer {
  return der(0x06, Buffer.from(bytes));
}

function sequence(...parts: Buffer[]): Buffer {
  return der(0x30, ...parts);
}

function der(tag: number, ...parts: Buffer[]): Buffer {
  const content = Buffer.concat(parts);
  const { length } = content;
  if (length < 0x80) return Buffer.concat([Buffer.of(tag, length), content]);
  if (length < 0x100) return Buffer.concat([Buffer.of(tag, 0x81, length), content]);
  return Buffer.concat([Buffer.of(tag, 0x82, length >> 8, length & 0xff), content]);
}
