import * as fc from 'fast-check';

/** Names as nobody should choose them: markup of every medium, invisible and broken characters, absurd lengths. */
export const hostileNames: Readonly<Record<string, string>> = {
  'a mention of the whole channel': '<!channel> pay now',
  'a mention of a person': '<@U1> <#C1>',
  'a disguised link': '<http://evil.example|https://bank.example>',
  'Slack markup': '*bold* _italic_ ~gone~ `code` :fire:',
  'an HTML script': '<script>alert(1)</script>',
  'an HTML image with a handler': '"><img src=x onerror=alert(1)>',
  'HTML entities': '&lt;b&gt; &amp;amp; &#60;',
  'quotes and ampersands': `a"b'c&d`,
  'a right-to-left override': 'OTP \u202egnp.exe',
  'zero-width characters': 'O\u200bT\u2060P\ufeff',
  'a header injection': 'OTP\r\nBcc: everyone@example.com\r\n\r\nbody',
  'NUL and control characters': 'O\u0000T\u0007P\u001b[31m',
  'a lone surrogate': 'OTP \ud800 \udc00',
  'emoji with joiners': '👩‍👩‍👧‍👦 🇨🇳 OTP',
  brackets: '[OTP] [FIRING:1]',
  'a closing comment and style': '--></style></title><b>x</b><!--',
  'nothing but spaces': '   ',
  '5,000 characters': 'x'.repeat(5000),
  '5,000 emoji': '🔥'.repeat(5000),
};

/**
 * Any code point but half a surrogate pair. Not the `binary` of fast-check: that one makes a table of all of them, in a second and 120 MB
 * of each worker.
 */
export const anyCharacter = fc
  .nat({ max: 0x10ffff - 0x800 })
  .map((place) => String.fromCodePoint(place < 0xd800 ? place : place + 0x800));

/** Any text at all, lone surrogates and markup included. */
export const anyText = fc.oneof(
  fc.string({ unit: anyCharacter, maxLength: 200 }),
  fc.string({
    unit: fc.constantFrom(
      '<',
      '>',
      '&',
      '"',
      "'",
      '*',
      '_',
      '`',
      '!',
      '@',
      '|',
      '\n',
      '\u202e',
      '\ud800',
      '😀',
      'a',
      ' ',
      ';',
      '#',
      ']',
      '[',
    ),
    maxLength: 200,
  }),
);
