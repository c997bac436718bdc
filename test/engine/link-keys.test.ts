import { describe, expect, it } from 'vitest';
import { linkKeysOf } from '../../src/engine/access.ts';
import { dayMs } from '../support/account-facts.ts';
import { startWorld } from '../support/world.ts';

describe('the keys that links in messages are signed with', () => {
  it('are made once, and outlive a restart', async () => {
    const world = await startWorld();
    const [key] = linkKeysOf(world.daemon.state);
    expect(key).toHaveLength(32);
    await world.restart({ downMs: dayMs });
    expect(linkKeysOf(world.daemon.state)).toEqual([key]);
    expect(world.views.linkKeys()).toEqual([key]);
  });

  it('are replaced when they are old; the one before stays as long as its links', async () => {
    const world = await startWorld({}, { sleepMs: dayMs });
    await world.restart({ downMs: 91 * dayMs });
    expect(linkKeysOf(world.daemon.state)).toHaveLength(2);
    await world.restart({ downMs: 91 * dayMs });
    expect(linkKeysOf(world.daemon.state)).toHaveLength(2);
  });
});
