/**
 * Whether a mail server's reply repeats what was sent to log in: as it is, percent-encoded, or in base64, alone
 * or within the response of AUTH PLAIN, LOGIN and XOAUTH2.
 */
export function echoesSecret(reply: string, secrets: readonly string[]): boolean {
  return secrets
    .filter((secret) => secret !== '')
    .some((secret) => textsIn(reply).some((text) => text.includes(secret)));
}

/** The reply, and what the words in it stand for. */
function textsIn(reply: string): readonly string[] {
  const words = reply.split(/[^\w+/=%.-]+/);
  return [
    reply,
    ...words.map(percentDecoded),
    ...words.map((word) => Buffer.from(word, 'base64').toString()),
  ];
}

function percentDecoded(word: string): string {
  try {
    return decodeURIComponent(word);
  } catch {
    return '';
  }
}
