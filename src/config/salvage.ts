import { keyOf } from '../domain/json.ts';
import type { ConfigProblem } from '../domain/operator-error.ts';
import type { Path } from './config-problem.ts';
import { type Draft, Position, replaceTexts } from './draft.ts';
import type { ConfigInput } from './schema/config.ts';

/** The problems of a draft, and its configuration if it has none. */
export type Judge = (draft: Draft) => {
  readonly config: ConfigInput | null;
  readonly problems: readonly ConfigProblem[];
};

/** Each round removes something; what then refers to nothing is removed in the next round. */
const maxRounds = 8;

/**
 * The settings that a configuration with errors still gives, for commands that read the database or ask the daemon. A secret that cannot be
 * resolved is made up; a rule, route, channel or silence with an error is left out, and so is the wrong key of an account. A daemon never
 * runs on these settings. Null if not even the server and the database can be read.
 */
export function salvage(broken: Draft, judge: Judge): ReturnType<typeof prune> {
  const lost = new Set<string>();
  const fill = (text: string, path: Path) => fillBroken(text, path, { broken, lost });
  const value = replaceTexts(structuredClone(broken.value), fill);
  if (typeof value !== 'object' || value === null) return null;
  if (typeof keyOf(value, 'channels') !== 'object') Reflect.set(value, 'channels', {});
  const all = prune(value, { broken, judge, lost });
  if (all !== null) return all;
  lost.add('accounts');
  const kept = ['timezone', 'server', 'storage', 'cluster'].filter((key) => keyOf(value, key) !== undefined);
  const rest = Object.fromEntries(kept.map((key) => [key, keyOf(value, key)]));
  return prune({ accounts: [nobody], channels: {}, ...rest }, { broken, judge, lost });
}

const madeUpAddress = 'https://unresolved.invalid';
const nobody = { id: 'unknown', authSecret: 'unresolved', baseUrl: madeUpAddress };

interface Pruning {
  readonly broken: Draft;
  readonly judge: Judge;
  /** Parts left out or made up, as `section.key`: `server.token`, `rules.2`. */
  readonly lost: Set<string>;
}

function prune(value: object, { broken, judge, lost }: Pruning) {
  // A problem's place comes back as its path, because nobody sees these problems.
  const draft: Draft = {
    ...broken,
    value,
    placeOf: (path) => ({ path: JSON.stringify(path), line: 0, column: 0 }),
    fillingOf(path) {
      const filling = broken.fillingOf(path);
      return filling && { ...filling, broken: false };
    },
  };
  for (let round = 0; round < maxRounds; round++) {
    const { config, problems } = judge(draft);
    const units = new Set(problems.map(({ path }) => path).filter((path) => path !== noChannel));
    if (config !== null && units.size === 0) return { config, draft, lost };
    for (const path of units) remove(draft, JSON.parse(path === '' ? '[]' : path) as Path, lost);
    for (const [key, list] of Object.entries(value)) {
      const kept = Array.isArray(list) ? list.filter((item) => item !== undefined) : list;
      Reflect.set(value, key, kept);
    }
  }
  return null;
}

/** Without any channel, commands that only read still work. */
const noChannel = JSON.stringify(['channels']);

/** Removes the smallest part around a problem that the configuration can do without. */
function remove(draft: Draft, path: Path, lost: Set<string>): void {
  const unit = path.slice(0, path[0] === 'accounts' && path[2] !== 'id' ? 3 : 2);
  const whole = new Position(draft);
  while (unit.length > 1 && whole.at(...unit).value === undefined) unit.pop();
  const parent = whole.at(...unit.slice(0, -1)).value;
  const key = unit.at(-1);
  lost.add(unit.slice(0, 2).join('.'));
  if (typeof parent !== 'object' || parent === null || key === undefined) return;
  // The other elements keep their index until the round is over, because other problems name them by it.
  if (Array.isArray(parent)) parent[Number(key)] = undefined;
  else Reflect.deleteProperty(parent, key);
}

/** A harmless value for a placeholder that could not be resolved. */
function fillBroken(text: string, path: Path, { broken, lost }: Pick<Pruning, 'broken' | 'lost'>): string {
  if (text !== '' || !broken.fillingOf(path)?.broken) return text;
  lost.add(path.slice(0, 2).join('.'));
  return /url$/i.test(String(path.at(-1))) ? madeUpAddress : 'unresolved';
}
