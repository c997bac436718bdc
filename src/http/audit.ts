import { parseJsonObject } from '../domain/json.ts';
import type { AuditEntry } from '../domain/operator.ts';
import { addressOf } from './access.ts';
import type { WebContext } from './web-env.ts';

/** What changing requests do, by the end of their paths; a DELETE of a thing ends it. */
const actions = [
  {
    path: /\/alerts\/(?<account>[^/]+)\/(?<rule>[^/]+)\/(?:ack|acknowledge)$/,
    post: 'acknowledge',
    end: 'unacknowledge',
  },
  { path: /\/alerts\/(?<account>[^/]+)\/(?<rule>[^/]+)\/(?<action>unacknowledge)$/ },
  { path: /^\/ack$|\/acks$|\/alerts\/many$/, post: 'acknowledge' },
  { path: /\/silences(?:\/(?<id>[^/]+))?$/, post: 'silence', end: 'expire-silence' },
  { path: /\/silences\/(?<id>[^/]+)\/expire$/, post: 'expire-silence' },
  { path: /\/silences\/(?<id>[^/]+)\/extend$/, post: 'extend-silence' },
  { path: /\/expected-top-ups(?:\/(?<id>[^/]+))?$/, post: 'expect-top-up', end: 'cancel-expected' },
  { path: /^\/pay\/ordered$/, post: 'expect-top-up' },
  { path: /^\/sessions\/(?<id>[^/]+)\/end$/, post: 'end-session' },
  { path: /^\/pay\/calendar$/, post: 'renew-calendar-key' },
  { path: /^\/pay\/cancel$/, post: 'cancel-expected' },
  { path: /\/accounts\/(?<account>[^/]+)\/(?<action>[^/]+)$/ },
] as const;

const unsaid = new Set([
  'by',
  'back',
  'next',
  'token',
  'confirmed',
  'change',
  'seen',
  'expires',
  'signature',
]);
const maxDetailLength = 500;
const maxNameLength = 200;

/** What a changing request did, for the audit; null where it changed nothing that others would ask about. */
export async function describeAction(context: WebContext): Promise<AuditEntry | null> {
  const { req, res } = context;
  if (req.method === 'GET' || req.method === 'HEAD') return null;
  const isApi = req.path.startsWith('/api/');
  // A form that is asked about or shown again answers 200, one that was carried out leads on.
  const isDone = isApi ? res.ok : res.status === 303 || context.get('isDone') === true;
  // Nothing was selected.
  if (!isDone || /[?&]done=none$/.test(res.headers.get('location') ?? '')) return null;
  const found = actionOf(req.method, req.path);
  if (found === null) return null;
  const given = await readGiven(context);
  return {
    at: context.get('now'),
    by: context.get('person') ?? (given.get('by')?.trim() || (isApi ? 'api' : 'page')),
    from: addressOf(context.var.site, context.env.incoming),
    action: given.get('do') === 'silence' ? 'silence' : found.action,
    account: (found.account ?? given.get('account'))?.slice(0, maxNameLength) || null,
    rule: (found.rule ?? given.get('rule'))?.slice(0, maxNameLength) || null,
    detail: detailOf(found.id, given),
  };
}

function actionOf(method: string, requested: string) {
  for (const { path, ...names } of actions) {
    const found = path.exec(requested);
    if (found === null) continue;
    const { account, rule, id, action = 'change' } = found.groups ?? {};
    const [accountId, ruleId, ended] = [account, rule, id].map((part) => part && decodeURIComponent(part));
    const ends = method === 'DELETE' && 'end' in names;
    const done = ends ? names.end : 'post' in names ? names.post : action;
    return { account: accountId, rule: ruleId, id: ended, action: done };
  }
  return null;
}

function detailOf(id: string | undefined, given: ReadonlyMap<string, string>): string {
  const words = [...given].flatMap(([key, value]) =>
    value === '' || unsaid.has(key) || key.startsWith('seen-') ? [] : [`${key} ${value}`],
  );
  return [...(id === undefined ? [] : [id]), ...words].join(', ').slice(0, maxDetailLength);
}

/** The keys of a body, JSON or form, with those of the address. The body was read before and is at hand. */
async function readGiven({ req }: WebContext): Promise<ReadonlyMap<string, string>> {
  const body = await req.text();
  const isForm = (req.header('content-type') ?? '').startsWith('application/x-www-form-urlencoded');
  const form = new URLSearchParams(isForm ? body : '');
  const fields = [...new Set(form.keys())].map((key) => [key, form.getAll(key).join(' ')] as const);
  const pairs = isForm ? fields : Object.entries(parseJsonObject(body) ?? {});
  const textOf = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value));
  return new Map([...Object.entries(req.query()), ...pairs].map(([key, value]) => [key, textOf(value)]));
}
