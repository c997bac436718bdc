import { capital } from '../../domain/plain-text.ts';
import { type OperatorCommand, printOrdered } from '../backend.ts';
import { CommandError, UsageError } from '../command.ts';
import type { OperatorViews } from '../daemon/remote-views.ts';
import { requireKnown, unknownId } from '../read-options.ts';

type Run = OperatorCommand['run'];

interface Announcing {
  readonly noun: string;
  /** The state of one: `expected` or `announced`. */
  readonly is: string;
  readonly path: string;
  known(views: OperatorViews): Promise<readonly { readonly id: string; readonly account: string }[]>;
  announce(...given: [...Parameters<Run>, account: string]): Promise<number>;
  readonly list: Run;
}

/** Announces something with an account, cancels it with `--cancel`, and else lists what is announced. */
export function announcing({ noun, is, path, known, announce, list }: Announcing): Run {
  return async (context, input, backend) => {
    const id = input.option('cancel');
    const account = input.optionalPositional('ACCOUNT');
    if (id !== null && account !== null) throw new UsageError('--cancel takes no account');
    if (account !== null)
      return announce(context, input, backend, requireKnown('account', backend.names.accounts, account));
    if (id === null) return list(context, input, backend);
    const wanted = async () => {
      const all = await known(await backend.views());
      const found = all.find((each) => each.id === id);
      const ids = all.map((each) => each.id);
      if (found === undefined) throw new CommandError(unknownId(`no ${noun} ${id} is ${is}`, ids, id));
      return { kind: 'cancel-expected', account: found.account, id } as const;
    };
    const by = context.user;
    const asked = `/api/v1/${path}/${encodeURIComponent(id)}?${new URLSearchParams({ by })}`;
    const answer = await backend.order({ method: 'DELETE', path: asked }, { wanted, by });
    const sentence = `${capital(noun)} ${id} is cancelled.`;
    return printOrdered(context, input, { about: { id }, sentence, answer });
  };
}
