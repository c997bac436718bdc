import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { describe, expect, it, type TestContext } from 'vitest';
import { hasBrowser, shareBrowser } from '../support/browser.ts';
import { freePort } from '../support/free-port.ts';
import { withBed } from '../support/run-daemon.ts';
import { mountSmallDisk } from '../support/small-disk.ts';

/** What takes a page ten seconds takes it longer where ten others load the machine. */
const soon = { timeout: 90_000 };

/** All of them mostly wait. */
const atOnce = { concurrent: true };

describe.skipIf(!hasBrowser())('an open page of the built program', atOnce, () => {
  it('says so while the daemon hangs, is gone, or has an invalid configuration, and comes back by itself', (context) =>
    withBed({}, async (bed) => {
      const server = { port: await freePort() };
      bed.configure({ server });
      const daemon = await bed.start();
      const page = await openOverview(context, daemon.url);
      await page.getByText('Nothing needs you now').waitFor(soon);

      writeFileSync(bed.configFile, '{ "accounts": ');
      await page.getByText('lowwater itself needs attention').waitFor(soon);
      await page.getByText('config-invalid').first().waitFor(soon);
      expect(await page.getByText('Nothing needs you now').count()).toBe(0);
      bed.configure({ server });
      await page.getByText('Nothing needs you now').waitFor(soon);

      daemon.child.kill('SIGSTOP');
      await seesLoss(page);
      daemon.child.kill('SIGCONT');
      await seesReturn(page);

      await daemon.stop();
      await seesLoss(page);
      const next = await bed.start();
      await seesReturn(page);
      await page.getByText('Nothing needs you now').waitFor(soon);

      await next.kill();
      await seesLoss(page);
    }));

  it('says so while the database cannot be written', (context) =>
    withBed({}, async (bed) => {
      const disk = mountSmallDisk(join(bed.folder, 'disk'), 'size=2m');
      if (disk === null) return context.skip('only root can mount a small file system');
      try {
        bed.configure({ storage: { path: join(disk.path, 'lowwater.db') } });
        const daemon = await bed.start();
        const page = await openOverview(context, daemon.url);
        await page.getByText('Nothing needs you now').waitFor(soon);
        disk.fill();
        bed.provider.control.setBalance('otp', 'sms', '10');
        await page.getByText('storage-failed').first().waitFor(soon);
        await page.getByText('SMS balance 10.00 CNY').first().waitFor(soon);
        disk.free();
        await page.getByText('lowwater itself needs attention').waitFor({ state: 'detached', ...soon });
        await daemon.stop();
      } finally {
        disk.unmount();
      }
    }));

  it('says so when the clock of the machine is certainly wrong', (context) =>
    withBed({}, async (bed) => {
      const real =
        'const now = Date.now; const past = Date.UTC(2020, 0, 1) - now(); Date.now = () => now() + past;';
      const daemon = await bed.start({
        NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(real)}`,
      });
      const page = await openOverview(context, daemon.url);
      await page.getByText('the clock of this machine is wrong').waitFor(soon);
      expect(await page.getByText('Nothing needs you now').count()).toBe(0);
      await daemon.stop();
    }));
});

async function openOverview({ onTestFinished }: TestContext, url: string): Promise<Page> {
  const { scripted } = await shareBrowser();
  const page = await scripted.newPage();
  onTestFinished(() => page.close());
  await page.goto(url);
  await page.getByText('Updates by itself.').waitFor(soon);
  return page;
}

async function seesLoss(page: Page): Promise<void> {
  await page.getByRole('alert').getByText('No connection to lowwater').waitFor(soon);
  expect(await page.title()).toMatch(/^Not connected · /);
}

async function seesReturn(page: Page): Promise<void> {
  await page.getByText('Updates by itself.').waitFor(soon);
  await page.getByRole('alert').getByText('No connection').waitFor({ state: 'hidden' });
  expect(await page.title()).not.toContain('Not connected');
}
