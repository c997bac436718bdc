import { beforeAll, describe, expect, it } from 'vitest';
import { englishCatalogue } from '../../scripts/write-languages.ts';
import { channelKinds } from '../../src/channels/registry.ts';
import { loadLanguage } from '../../src/languages/load-language.ts';
import { english } from '../../src/wording/language.ts';
import { cutEnglish, fillEnglish, keptPhrases, type Language } from '../../src/wording/phrase.ts';
import { sayAgain } from '../../src/wording/say-again.ts';

const languages: Record<string, Language> = {};

beforeAll(async () => {
  await englishCatalogue();
  for (const id of ['zh-CN', 'es']) languages[id] = await loadLanguage(id);
});

const inLanguage = (text: string, id: string) => sayAgain(text, { language: languages[id] ?? english });

/** Quoted texts and names are not looked for. */
const staysIn = (sentence: string, argument: string) =>
  sentence.includes(`"{${argument}}"`) ||
  ['channel', 'account', 'node', 'nodes', 'name', 'rules'].includes(argument);

it('English is as it was kept', () => {
  expect(sayAgain('no reading yet', { language: english })).toBe('no reading yet');
});

describe.each(['zh-CN', 'es'])('In %s', (id) => {
  it('every sentence that is kept in English is found again with its arguments', () => {
    for (const { name, english: sentence } of keptPhrases()) {
      const names = [...sentence.matchAll(/\{(\w+)/g)].map(([, argument = '']) => argument);
      // A sentence that says nothing by itself is found by an argument that is known.
      const known = (argument: string) =>
        /, plural/.test(sentence) && sentence.includes(`{${argument}, plural`) ? 7 : 'critical';
      const given = Object.fromEntries(names.map((argument) => [argument, known(argument)]));
      const said = Object.fromEntries(
        Object.entries(given).map(([argument, value]) => [
          argument,
          value === 'critical' && !staysIn(sentence, argument) ? inLanguage('critical', id) : value,
        ]),
      );
      const kept = fillEnglish(cutEnglish(sentence), given);
      const alike = keptPhrases().filter((other) => fillEnglish(cutEnglish(other.english), given) === kept);
      const wanted = alike.map((phrase) => languages[id]?.fill(phrase, said));
      expect([name, wanted]).toEqual([name, expect.arrayContaining([inLanguage(kept, id)])]);
    }
  });
});

it('Amounts, durations and sentences within a sentence are said in the language, too', () => {
  const three = 'SMS balance below 50.00 (critical), 200.00 (warning), 500.00 (info)';
  expect(inLanguage(three, 'zh-CN')).toBe('短信余额低于 50.00（严重）、200.00（警告）、500.00（提示）');
  const rule = 'SMS balance below 50.00 (critical), 1200.00 (warning); resolves 10% above; for 5m';
  expect(inLanguage(rule, 'zh-CN')).toBe(
    '短信余额低于 50.00（严重）、1200.00（警告）；高出 10% 后恢复；须持续 5 分钟',
  );
  expect(inLanguage(rule, 'es')).toBe(
    'saldo de SMS por debajo de 50,00 (crítica), 1200,00 (aviso); se resuelve 10\u00a0% por encima; durante 5 minutos',
  );
  const share = 'It would not fire with "by" of 12.5% or more.';
  expect(inLanguage(share, 'es')).toBe('No se activaría con "by" de 12,5\u00a0% o más.');
  expect(inLanguage(share.replace('12.5%', '1234.50 credits'), 'es')).toContain('1234,50 credits');
});

it('A channel that is called as a word of ours keeps its name', () => {
  expect(inLanguage('messages wait for channel critical: the mail server did not answer in time', 'es')).toBe(
    'hay mensajes en espera para el canal critical: el servidor de correo no respondió a tiempo',
  );
});

it('An expected run and a share are said in the language whole, with its percent sign', () => {
  expect(inLanguage('expected on day 1 of the month, or the working day before, from 9:00', 'zh-CN')).toBe(
    '预计每月1日或前一个工作日 9:00 起',
  );
  expect(inLanguage('usual Monday 8:00, the busiest hour', 'zh-CN')).toBe('通常周一 8:00，最忙的一小时');
  expect(inLanguage('105 % of what is usual at these hours', 'zh-CN')).toBe('为这些时段通常的 105%');
  expect(inLanguage('usually off by 4 %', 'es')).toBe('suele desviarse 4 %');
});

it('A balance that its configuration named is called so in the sentences of rules, too', () => {
  const low = 'Wallet balance below 50.00 (critical)';
  expect(inLanguage(low, 'es')).toBe('saldo de Wallet por debajo de 50,00 (crítica)');
  const month = 'spent of the Wallet balance since the month began reaches 800.00 (warning)';
  expect(inLanguage(month, 'zh-CN')).toBe('当月 Wallet 余额的消耗达到 800.00（警告）');
  expect(inLanguage('Ops balance', 'zh-CN')).toBe('Ops balance');
});

it('A rule that is called as a word of ours keeps its name in a refusal', () => {
  const refusal = 'no incident of rule "nope" is open for account "otp"; firing: low, critical';
  expect(inLanguage(refusal, 'es')).toMatch(/activas: low, critical$/);
});

it('A form says in the language which threshold is out of order, and an amount as people write it there', () => {
  const order = 'the threshold for warning must be lower than that for info';
  expect(inLanguage(order, 'es')).toBe('el umbral de aviso debe ser menor que el de información');
  expect(inLanguage('needs either amount, or thresholds by severity', 'zh-CN')).toBe(
    '需要 amount，或按级别写 thresholds',
  );
  expect(inLanguage('The amount must be a number such as 9300.00.', 'es')).toBe(
    'El importe debe ser un número como 9300,00.',
  );
});

it("A vendor's words after a sentence are no part of it: punctuation before them is the language's own", () => {
  const code = 'the provider refuses the authSecret: code -22, "not, read"';
  expect(inLanguage(code, 'zh-CN')).toBe('服务商拒绝了 authSecret：代码 -22，“not, read”');
  expect(inLanguage('rate limited: HTTP 429, "slow down"', 'zh-CN')).toBe('请求受限：HTTP 429，“slow down”');
  expect(inLanguage('Queue "a" said so, "b"', 'zh-CN')).toBe('Queue "a" said so, "b"');
  const remedy = 'Twilio answered 400: check "from", "messagingServiceSid" and "to"';
  expect(inLanguage(remedy, 'zh-CN')).toBe('Twilio 响应 400：检查 "from"、"messagingServiceSid" 和 "to"');
});

it('Why a channel fails or rates are missing is said in the language whole', () => {
  expect(inLanguage('given up after 3 attempts: the mail server answered 354 go on', 'es')).toBe(
    'se desistió tras 3 intentos: el servidor de correo respondió 354 go on',
  );
  expect(inLanguage('not delivered within a day; last: no complete answer in time', 'zh-CN')).toBe(
    '一天内未能送达；最后一次：未及时收到完整响应',
  );
  const refused =
    'refused a@example.com, b@example.com (the mail server answered 550 no); the rest was delivered';
  expect(inLanguage(refused, 'zh-CN')).toBe(
    '拒收：a@example.com, b@example.com（邮件服务器响应 550 no）；其余已送达',
  );
  expect(inLanguage('the rate of CNY is 0.0005; it must be at least 0.001', 'es')).toBe(
    'el tipo de cambio de CNY es 0,0005; debe ser al menos 0,001',
  );
});

it('What to do is said in the language, whatever stands between in what a vendor says', () => {
  const kicked = 'Telegram answered 403 Forbidden: bot was kicked: add the bot to the chat again';
  expect(inLanguage(kicked, 'es')).toBe(
    'Telegram respondió 403 Forbidden: bot was kicked: añadir de nuevo el bot al chat',
  );
});

it('Why chats are not heard is said in the language, for each channel', () => {
  const lost = 'ops: Forbidden: gone: check "botToken"; duty: the connection to Slack was lost';
  expect(inLanguage(lost, 'es')).toBe(
    'ops: Forbidden: gone: revisar "botToken"; duty: se perdió la conexión con Slack',
  );
  expect(inLanguage(lost, 'zh-CN')).toBe(
    'ops: Forbidden: gone：检查 "botToken"；duty：与 Slack 的连接已断开',
  );
});

it.each(['zh-CN', 'es'])(
  'A long text of many parts that are nothing known is read in no time in %s',
  (id) => {
    const error =
      'rules[0].type (line 1): must be "below", "negative", "runway", "surge", "slump", "budget", "drop", "idle", "currency" or "stale"; did you mean "below"?; polll (line 1): unknown key; did you mean "poll"?';
    const fifty = Array.from({ length: 50 }, () => error).join('; ');
    for (const text of [error, '; not what: '.repeat(25), fifty]) expect(inLanguage(text, id)).toBe(text);
  },
);

it('An amount within a sentence keeps its currency, whatever stands behind it', () => {
  const ordered = 'Ana & Co has ordered 1,400.00 CNY less than a second ago';
  expect(inLanguage(ordered, 'zh-CN')).toBe('不到 1 秒前 Ana & Co 已付款 1,400.00 CNY');
  expect(inLanguage(ordered.replace('less than a second', '2 hours'), 'es')).toBe(
    'Ana & Co ya pidió 1.400,00 CNY hace 2 horas',
  );
});

it.each([
  ['the connection was refused', '连接被拒绝'],
  ['no complete answer within 10s', '10 秒内没有完整响应'],
  [
    'the provider refuses the authSecret: code 20001, "bad key"',
    '服务商拒绝了 authSecret：代码 20001，“bad key”',
  ],
  ['the provider refuses the credentials: HTTP 401, "timeout"', '服务商拒绝了凭据：HTTP 401，“timeout”'],
  ['$.balance is not in the answer, "no, such user"', '响应中没有 $.balance，“no, such user”'],
  ['the mail server answered 550 5.1.1 no such user', '邮件服务器响应 550 5.1.1 no such user'],
  [
    'Slack answered 301: a redirect, which is never followed; check the address',
    'Slack 响应 301：是重定向，从不跟随；检查地址',
  ],
  ['the receiver answered 404', '接收方响应 404'],
  ['the SMS gateway answered 401: check "token"', '短信网关响应 401：检查 "token"'],
  [
    'the Teams workflow answered 200: this is not what Teams answers; check "webhookUrl"',
    'Teams 工作流响应 200：这不是 Teams 的响应；检查 "webhookUrl"',
  ],
  ['the receiver answered 400 no such the receiver', '接收方响应 400 no such the receiver'],
  [
    'the last poll ended as auth_failed, which tells nothing about the key',
    '上次查询的结果：密钥被拒绝；说明不了密钥是否有效',
  ],
])(
  'Why a poll or a delivery failed is said with what others said in it as they said it: %s',
  (text, said) => {
    expect(inLanguage(text, 'zh-CN')).toBe(said);
  },
);

it.each(channelKinds)('What to do about an answer is said in every language: $type', ({ answers }) => {
  for (const { remedy } of answers as readonly { readonly remedy?: string }[])
    if (remedy !== undefined)
      for (const id of ['zh-CN', 'es']) expect(inLanguage(remedy, id)).not.toBe(remedy);
});

it('What a vendor says stays as it is, though it holds words that lowwater uses', () => {
  for (const text of [
    'insufficient balance',
    'Error: account suspended (code 12), see docs',
    '451 try again later',
  ])
    expect(inLanguage(text, 'zh-CN')).toBe(text);
});

it('An error of the configuration stays English as a whole', () => {
  const error = 'config.json:4: ruls: unknown key; did you mean "rules"?';
  for (const id of ['zh-CN', 'es']) expect(inLanguage(error, id)).toBe(error);
  const refusal = 'there is no account "otpp"; did you mean "otp"?';
  expect(inLanguage(refusal, 'es')).toBe('no hay ninguna cuenta "otpp"; ¿quizá "otp"?');
});

it('A Chinese joint stands apart from Latin names, and not from Chinese ones', () => {
  expect(languages['zh-CN']?.list(['below', 'negative'], 'and')).toBe('below 和 negative');
  expect(languages['zh-CN']?.list(['短信', 'VoIP生产', '语音'], 'and')).toBe('短信、VoIP生产和语音');
});
