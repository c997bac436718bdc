import { describe, expect, it, onTestFinished } from 'vitest';
import { Secret } from '../../../src/domain/secret.ts';
import { openDatabase } from '../../../src/store/postgres/connection.ts';
import { eventually } from '../../support/eventually.ts';
import { noPostgres, sharedPostgres } from '../../support/postgres.ts';

describe.skipIf(noPostgres !== null)('connections', () => {
  it('go on with another password, whether it was written before or after it holds at the server', async () => {
    const server = await sharedPostgres();
    const url = await server.createDatabase();
    const as = (password: string): Secret => {
      const address = Object.assign(new URL(url.reveal()), { username: 'rotated', password });
      return new Secret(address.href);
    };
    const change = async (password: string): Promise<void> => {
      await server.sql(url, `ALTER ROLE rotated PASSWORD '${password}'`);
      const kill = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'rotated'";
      await server.sql(url, kill);
    };
    await server.sql(url, "CREATE ROLE rotated LOGIN PASSWORD 'first'");
    const database = openDatabase({ url: as('first') });
    onTestFinished(() => database.close());
    const answers = () => database.ask('SELECT 1').then(Boolean, () => false);
    expect(await answers()).toBe(true);
    database.signIn(as('second'));
    expect(await answers()).toBe(true);
    await change('second');
    await eventually('it signs in with the second', answers);
    await change('third');
    await eventually('it is refused', async () => !(await answers()));
    database.signIn(as('third'));
    await eventually('it signs in with the third', answers);
  });
});
