import * as z from 'zod';
import { isUnencrypted } from '../../domain/addresses.ts';
import { Secret } from '../../domain/secret.ts';
import { plainAddress } from '../../schema/addresses.ts';
import { filledList, shape } from '../../schema/shapes.ts';
import { secret, textLeaf } from '../../schema/texts.ts';
import { sentences } from '../../wording/phrase.ts';
import { type AnswerTable, commonAnswers, isWebPage, remedies, strangeSuccess } from '../answers.ts';
import type { ChannelKind } from '../kind.ts';
import type { AlertmanagerSettings } from './alertmanager-sender.ts';

const source = 'prometheus.io, Alertmanager API v2';

/** As often as Prometheus posts by default (`rules.alert.resend-delay`). */
const restateEveryMs = 60_000;

const alertmanagerSchema = shape({
  type: z.literal('alertmanager').describe(`Alerts of an Alertmanager by its API v2 (${source}).`),
  urls: filledList(
    'Each Alertmanager of the cluster: they share no alerts, so all of them are posted to.',
    plainAddress('Address of one Alertmanager, with its route prefix if it has one.').meta({
      examples: ['http://alertmanager:9093'],
    }),
    'must be a list of addresses',
  ),
  labels: z
    .record(
      z.string().regex(/^[a-zA-Z_][a-zA-Z0-9_]*$/),
      textLeaf({ description: 'Its value.', allowed: 'must be a string', read: (text) => ({ value: text }) }),
      {
        error: (issue) =>
          issue.code === 'invalid_key'
            ? 'must be the name of a label: letters, digits and _, not a digit first'
            : 'must be an object of labels',
      },
    )
    .describe('More labels for each alert, such as the cluster that routes ask for.')
    .optional(),
  basic: shape({
    user: textLeaf({
      description: 'User of a proxy that asks for one.',
      allowed: 'must be a string without a colon',
      read: (text) => (text === '' || text.includes(':') ? null : { value: text }),
    }),
    password: secret('Its password.'),
  })
    .describe('User and password for a proxy before it.')
    .optional(),
  bearer: secret('Token of a proxy that asks for one; not together with `basic`.').optional(),
});

const told = sentences('alertmanager', {
  login: 'check "basic" or "bearer"',
  urls: 'check "urls": the address ends before /api/v2/alerts, with the route prefix if there is one',
});

const table: AnswerTable = {
  receiver: 'Alertmanager',
  quote: (answer) => (isWebPage(answer) ? '' : answer.body),
  rows: [
    {
      answer: '200',
      fits: (answer) => answer.status === 200 && !isWebPage(answer),
      means: 'delivered',
      source,
    },
    strangeSuccess({
      answer: 'another 2xx, or a web page',
      remedy: remedies.another({ receiver: 'Alertmanager', key: 'urls' }),
      source,
    }),
    {
      answer: '400',
      fits: ({ status }) => status === 400,
      means: 'dead',
      note: 'with what is wrong',
      source,
    },
    {
      answer: '401, 403',
      fits: ({ status }) => status === 401 || status === 403,
      means: 'dead',
      remedy: told.login(),
      source: 'RFC 9110, 15.5',
    },
    { answer: '404', fits: ({ status }) => status === 404, means: 'dead', remedy: told.urls(), source },
    ...commonAnswers,
  ],
};

export const alertmanagerKind: ChannelKind<z.output<typeof alertmanagerSchema>, AlertmanagerSettings> = {
  type: 'alertmanager',
  schema: alertmanagerSchema,
  restateEveryMs,
  check: ({ read }) =>
    read('basic') !== undefined && read('bearer') !== undefined
      ? [{ key: 'bearer', message: 'excludes "basic"' }]
      : [],
  build(name, { type, urls, labels = {}, basic, bearer }) {
    const addresses = urls.map((url) => url.replace(/\/api\/v2\/alerts$/, ''));
    const pair = basic && Buffer.from(`${basic.user}:${basic.password.reveal()}`).toString('base64');
    const words = pair === undefined ? bearer && `Bearer ${bearer.reveal()}` : `Basic ${pair}`;
    const authorization = words === undefined ? null : new Secret(words);
    return { type, name, place: new Secret(addresses.join(' ')), urls: addresses, labels, authorization };
  },
  describe: ({ urls }) => urls.join(', '),
  findWarnings: ({ urls, authorization }) =>
    authorization !== null && urls.some(isUnencrypted)
      ? [{ key: 'urls', message: 'the credentials travel unencrypted over http://' }]
      : [],
  pace: ({ place }) => ({ minGapMs: 0, paceKey: place.reveal() }),
  takesReports: false,
  answers: table.rows,
  async openSender(settings, dependencies) {
    const { openAlertmanagerSender } = await import('./alertmanager-sender.ts');
    return openAlertmanagerSender(settings, { table, ...dependencies });
  },
  async openDemoReceiver(received) {
    const [{ receivePosts }, { show }] = await Promise.all([
      import('../demo-receiver.ts'),
      import('./alertmanager-sender.ts'),
    ]);
    return receivePosts({
      channel: (origin) => ({ type: 'alertmanager', urls: [origin] }),
      received: (body) => received({ title: 'Alertmanager', lines: show(body) }),
      answer: { status: 200, body: '' },
    });
  },
};
