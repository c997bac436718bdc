import { expect, test } from 'vitest';
import { StorageError } from '../../src/domain/operator-error.ts';
import { CurrentViews } from '../../src/views/current-views.ts';
import { FakeViews } from '../support/fake-views.ts';

test('where the accounts turn out to be with another daemon, what is stored answers and not what this one knew', async () => {
  const [owned, stored] = [new FakeViews(), new FakeViews()];
  const views = new CurrentViews(owned);
  owned.refresh = async () => {
    views.become(stored);
    throw new StorageError('fenced', 'simulated');
  };
  expect(await views.refreshed()).toBe(stored);
  stored.refresh = () => Promise.reject(new StorageError('other', 'simulated'));
  await expect(views.refreshed()).rejects.toBeInstanceOf(StorageError);
});
