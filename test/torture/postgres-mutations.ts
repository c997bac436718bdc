import type { Mutation } from './mutations.ts';

const commit = 'src/store/postgres/commit.ts';
const lease = 'src/store/postgres/lease.ts';
const commitTest = 'test/store/postgres/fenced-store.test.ts';
const leaseTest = 'test/store/postgres/lease.test.ts';

/** Bugs in the statements by which daemons share a PostgreSQL database; where none is installed they go unnoticed. */
export const postgresMutations: readonly Mutation[] = [
  {
    name: 'one record that cannot be read keeps all others from being loaded',
    file: 'src/store/records.ts',
    old: '{ at: rest.at }) });\n    return [];\n',
    new: '{ at: rest.at }) });\n    throw new TypeError(reason);\n',
    test: 'test/store/postgres/damaged-records.test.ts',
  },
  {
    name: 'PostgreSQL lets an owner write next to who takes the accounts just then',
    file: commit,
    old: 'epoch = $3 FOR SHARE',
    new: 'epoch = $3',
    test: commitTest,
  },
  {
    name: 'a status that is no JSON cuts every daemon off',
    file: lease,
    old: "'status', status) ORDER",
    new: "'status', status::json) ORDER",
    test: leaseTest,
  },
  {
    name: 'a number of batches that a person set stops the owner',
    file: 'src/store/postgres/fenced-store.ts',
    old: 'if (row === undefined || row.batch <= stored) throw fencedError();',
    new: 'if (row === undefined || row.batch !== stored) throw fencedError();',
    test: commitTest,
  },
  {
    name: 'PostgreSQL lets an old owner write',
    file: commit,
    old: 'incarnation = $2 AND epoch = $3 FOR SHARE',
    new: '($2::text, $3::bigint) IS NOT NULL FOR SHARE',
    test: commitTest,
  },
  {
    name: 'PostgreSQL stores a batch that it has once more',
    file: commit,
    old: 'batch = $4 - 1 AND EXISTS',
    new: 'batch <= $4 AND EXISTS',
    test: commitTest,
  },
  {
    name: 'PostgreSQL counts a batch of an old owner although it knows better',
    file: commit,
    old: ' AND EXISTS (SELECT FROM held) RETURNING batch',
    new: ' RETURNING batch',
    test: commitTest,
  },
  {
    name: 'PostgreSQL brings back a lease that is over',
    file: lease,
    old: 'WHERE incarnation = $2 AND expires_at > clock_timestamp() AND $',
    new: 'WHERE incarnation = $2 AND $',
    test: leaseTest,
  },
  {
    name: 'PostgreSQL gives accounts away whose owner lives',
    file: lease,
    old: 'SELECT FROM member WHERE member.incarnation = slot.incarnation AND expires_at > clock_timestamp()\n',
    new: 'SELECT FROM member WHERE false\n',
    test: leaseTest,
  },
  {
    name: 'PostgreSQL gives accounts to a member whose lease is over',
    file: lease,
    old: 'WHERE member.incarnation = $2 AND expires_at > clock_timestamp())\n  RETURNING',
    new: 'WHERE member.incarnation = $2)\n  RETURNING',
    test: leaseTest,
  },
  {
    name: 'PostgreSQL gives the accounts away without a new epoch',
    file: lease,
    old: 'epoch = greatest(slot.epoch, $4::bigint) + 1',
    new: 'epoch = greatest(slot.epoch, $4::bigint, 1)',
    test: leaseTest,
  },
  {
    name: 'PostgreSQL gives accounts back that another had meanwhile',
    file: lease,
    old: 'OR epoch = $3)',
    new: 'OR epoch >= $3)',
    test: leaseTest,
  },
  {
    name: 'PostgreSQL lets who looks for accounts wait for their owner to write',
    file: lease,
    old: 'FOR UPDATE SKIP LOCKED\n',
    new: 'FOR UPDATE\n',
    test: leaseTest,
  },
  {
    name: 'a daemon stores on one server by what another has',
    file: 'src/store/postgres/only-one-server.ts',
    old: 'isMoved ||= server !== first;',
    new: 'isMoved ||= server === undefined;',
    test: 'test/store/postgres/connection.test.ts',
  },
];
