import { formatMicros, type Micros, parseMicros } from '../../domain/money.ts';
import { capital } from '../../domain/plain-text.ts';
import type { Wanted } from '../../engine/orders.ts';
import { amountWriter, type OperatorCommand, printOrdered } from '../backend.ts';
import { CommandError, type CommandInput, UsageError } from '../command.ts';
import { inPath } from '../daemon/daemon-connection.ts';
import type { OperatorViews } from '../daemon/remote-views.ts';
import { requireKnown, unknownId } from '../read-options.ts';

type Run = OperatorCommand['run'];

interface Announcing {
  readonly noun: string;
  /** The word for the state: `expected` or `announced`. */
  readonly is: string;
  readonly path: string;
  known(views: OperatorViews): Promise<readonly { readonly id: string; readonly account: string }[]>;
  announce(...given: [...Parameters<Run>, own: Own]): Announced | Promise<Announced>;
  readonly list: Run;
}

/** An announcement about an account. */
export type Own = ReturnType<typeof readOwn>;

interface Announced {
  /** Fields that are sent and printed in addition to account, amount, balance and comment. */
  readonly said: object;
  /** Fields that are sent but not printed. */
  readonly sent?: object;
  readonly wanted: Wanted<'expect-top-up' | 'expect-spending'>;
  readonly by: string;
  readonly sentence: (amount: string) => string;
}

/** Announces something for an account, cancels it with `--cancel`, or lists what is announced. */
export function announcing({ noun, is, path, known, announce, list }: Announcing): Run {
  return async (context, input, backend) => {
    const id = input.option('cancel');
    const account = input.optionalPositional('ACCOUNT');
    if (id !== null && account !== null) throw new UsageError('--cancel takes no account');
    if (account !== null) {
      const own = readOwn(input, requireKnown('account', backend.names.accounts, account));
      const { said, sent, wanted, by, sentence } = await announce(context, input, backend, own);
      const { amountMicros, ...given } = own;
      const about = { ...given, amount: formatMicros(amountMicros), ...said };
      const request = { method: 'POST', path: `/api/v1/${path}`, body: { ...about, by, ...sent } } as const;
      const answer = await backend.order(request, { wanted: () => wanted, by });
      const write = await amountWriter(backend, [own]);
      return printOrdered(context, input, { about, sentence: sentence(write(amountMicros, own)), answer });
    }
    if (id === null) return list(context, input, backend);
    const wanted = async () => {
      const all = await known(await backend.views());
      const found = all.find((each) => each.id === id);
      const ids = all.map((each) => each.id);
      if (found === undefined) throw new CommandError(unknownId(`no ${noun} ${id} is ${is}`, ids, id));
      return { kind: 'cancel-expected', account: found.account, id } as const;
    };
    const by = context.user;
    const asked = `/api/v1/${path}/${inPath(id)}?${new URLSearchParams({ by })}`;
    const answer = await backend.order({ method: 'DELETE', path: asked }, { wanted, by });
    const sentence = `${capital(noun)} ${id} is cancelled.`;
    return printOrdered(context, input, { about: { id }, sentence, answer });
  };
}

function readOwn(input: CommandInput, account: string) {
  const typed = input.optionalPositional('AMOUNT');
  if (typed === null) throw new UsageError('AMOUNT is missing: how much, such as 5000');
  const amountMicros: Micros | null = parseMicros(typed);
  if (amountMicros === null || amountMicros <= 0)
    throw new UsageError(`${typed} is not an amount above 0`, 'write it as 5000 or 5000.50');
  const balance = input.option('balance');
  const comment = input.option('comment') ?? '';
  return { account, comment, ...(balance === null ? {} : { balance }), amountMicros };
}
