/** The live page while its service is away: it says so, and goes on by itself when the service is back. */
import type { Page } from 'playwright-core';
import { beforeAll, describe, expect, test } from 'vitest';
import { eventual } from '../support/eventually.js';
import { submit } from '../support/service-client.js';
import type { ServiceProcess } from '../support/service-process.js';
import { browserPath, withPage } from './browser.js';
import { checkLooks } from './looks.js';

/** Beside other tests the machine may be overloaded, which is said in place of it. */
const WELL = /^(?:All is well|The machine is overloaded)/;

describe.skipIf(browserPath === null)('the page without its service', () => {
  let service: ServiceProcess;
  let page: Page;
  let restart: () => Promise<void>;
  const connection = () => page.locator('.connection').textContent();

  withPage({}, (opened) => ({ service, page, restart } = opened));
  beforeAll(async () => {
    await submit(service.url, { job_type: 'batch_detect', image_paths: ['street.jpg'] });
  });

  test('a view whose script cannot be loaded says why, and opens when the service is back', async () => {
    await page.goto(`${service.url}/ui#/jobs`);
    await eventual(connection).toBe('Live');
    await service.kill('SIGKILL');
    await page.getByRole('link', { name: 'Service' }).click();
    await page.getByText('opens as soon as the service answers again').waitFor();
    await eventual(connection).toMatch(/^The service is away, last news /);
    expect(await page.locator('main').textContent()).not.toContain('TypeError');
    await checkLooks(page, 'service-away');
    await page.setViewportSize({ width: 1280, height: 800 });
    await page.evaluate(() => {
      document.documentElement.setAttribute('data-kept', 'yes');
    });
    await restart();
    await page.locator('.model').first().waitFor();
    await eventual(connection).toBe('Live');
    expect(await page.locator('html').getAttribute('data-kept')).toBe('yes');
  });

  test('the service view calls nothing well of a service that is away', async () => {
    await page.goto(`${service.url}/ui#/service`);
    await page.getByText(WELL).waitFor();
    await service.kill('SIGKILL');
    await page.getByText(/^The service has not answered for .+: this page shows/).waitFor();
    await eventual(connection).toMatch(/^The service is away, last news /);
    expect(await page.locator('.findings').textContent()).not.toContain('All is well');
    await restart();
    await page.getByText(WELL).waitFor();
    await eventual(connection).toBe('Live');
  });

  test('a list that was asked for in vain comes when the service is back', async () => {
    await page.goto(`${service.url}/ui#/jobs`);
    await page.locator('.job-row').first().waitFor();
    await service.kill('SIGKILL');
    await page.getByRole('link', { name: /^Completed/ }).click();
    await page.locator('.problem').waitFor();
    await restart();
    await page.locator('.problem').waitFor({ state: 'detached' });
    await page.locator('.pill.completed').waitFor();
  });
});
