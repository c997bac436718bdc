import { parseAccept } from 'hono/utils/accept';

/** Whether a client takes an answer packed by gzip (RFC 9110 12.5.3): a weight of 0 says that it does not. */
export function acceptsGzip(acceptEncoding: string | undefined): boolean {
  const codings = parseAccept(acceptEncoding ?? '');
  const found =
    codings.find(({ type }) => type.toLowerCase() === 'gzip') ?? codings.find(({ type }) => type === '*');
  return found !== undefined && found.q > 0;
}
