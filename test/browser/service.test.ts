/** The service view in a browser, and the views' looks: every width, light and dark. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import {
  axeViolations,
  browserPath,
  openBrowser,
  openPage,
  screenshot,
  sidewaysScroll,
  type WatchedPage,
} from './browser.js';
import { eventual } from '../support/eventually.js';
import { FEW_THREADS, detect } from '../support/service-client.js';
import { PROJECT_ROOT, startService, type ServiceProcess } from '../support/service-process.js';

const KEY = 'lat_alice_0123456789abcdef';

describe.skipIf(browserPath === null)('the page', () => {
  let service: ServiceProcess;
  let browser: Browser;
  let watched: WatchedPage;
  let page: Page;

  beforeAll(async () => {
    const env = {
      ...FEW_THREADS,
      LATTICE_MODELS_DIR: join(PROJECT_ROOT, 'models'),
      LATTICE_SYNC_QUEUE: '99',
    };
    [service, browser] = await Promise.all([startService({ env }), openBrowser()]);
    watched = await openPage(browser);
    ({ page } = watched);
  });

  afterAll(async () => {
    await browser.close();
    await service[Symbol.asyncDispose]();
  });

  beforeEach(async () => {
    await page.setViewportSize({ width: 1280, height: 800 });
    await page.emulateMedia({ colorScheme: 'light' });
    await page.goto('about:blank');
  });

  afterEach(() => {
    expect(watched.faults()).toEqual([]);
  });

  test('the service view shows what is there and what goes wrong', async () => {
    await page.goto(`${service.url}/ui#/service`);
    const finding = page.locator('.finding');
    await eventual(() => finding.textContent()).toContain('All is well: 1 worker ready');
    expect(await page.locator('.stat canvas').count()).toBe(5);
    const model = page.locator('.model').first();
    expect(await model.textContent()).toMatch(
      /yolov8n\.pt.*default.*ready.*640 × 640.*Apache-2\.0.*4 classes/s,
    );
    await page.getByText('Settings in force').click();
    expect(await page.locator('.settings .changed').allTextContents()).toContainEqual(expect.stringContaining('LATTICE_SYNC_QUEUE99')); // prettier-ignore
    await Promise.all([
      detect(service.url, { image_path: 'street.jpg' }),
      detect(service.url, { image_path: 'nowhere.jpg' }),
    ]);
    await eventual(() => finding.textContent()).toBe(
      '1 image failed in the last minute: image_not_found.',
    );
    expect(await page.locator('.stat').nth(1).textContent()).toMatch(/\d+.ms.*p95/);
    await model.getByRole('link', { name: 'Try it' }).click();
    await eventual(() => page.evaluate(() => location.hash)).toBe('#/detect?model=yolov8n.pt');
  });

  test('charts are loaded with their view only', async () => {
    const scripts: string[] = [];
    page.on('request', (request) => {
      if (request.resourceType() === 'script') scripts.push(new URL(request.url()).pathname);
    });
    await page.goto(`${service.url}/ui`);
    await page.getByRole('link', { name: 'Service' }).waitFor();
    expect(scripts).toEqual(['/ui/main.js']);
    await page.getByRole('link', { name: 'Service' }).click();
    await eventual(() => scripts).toContain('/ui/service-view.js');
  });

  const VIEWS: [name: string, hash: string, ready: string][] = [
    ['detect-empty', '#/detect', '.samples .thumbnail img'],
    ['detect', '#/detect?path=street.jpg', '.stage img'],
    ['service', '#/service', '.model'],
    ['jobs-empty', '#/jobs', '.empty'],
  ];
  const SIZES = [
    [1280, 800],
    [390, 844],
    [1920, 1080],
  ] as const;

  test.each(VIEWS)('%s: no fault of axe, no sideways scroll', async (name, hash, ready) => {
    await page.goto(`${service.url}/ui${hash}`);
    await page.locator(ready).first().waitFor();
    for (const [width, height] of SIZES) {
      await page.setViewportSize({ width, height });
      for (const colorScheme of ['light', 'dark'] as const) {
        await page.emulateMedia({ colorScheme });
        const where = `${name}-${width}-${colorScheme}`;
        expect(await sidewaysScroll(page), where).toBeLessThanOrEqual(0);
        // The widest one has the elements and colours of the middle one.
        if (width < 1920) expect(await axeViolations(page), where).toEqual([]);
        await screenshot(page, where);
      }
    }
  });

  test('the picker: no fault of axe', async () => {
    await page.goto(`${service.url}/ui`);
    await page.getByRole('button', { name: 'Browse', exact: true }).click();
    await page.locator('.tiles .thumbnail img').first().waitFor();
    expect(await axeViolations(page)).toEqual([]);
    await screenshot(page, 'picker-1280-light');
    await page.setViewportSize({ width: 390, height: 844 });
    expect(await sidewaysScroll(page)).toBeLessThanOrEqual(0);
  });

  test('with API keys the page asks for one, keeps it, and forgets it', async () => {
    const keys = join(service.dataDir, 'keys');
    writeFileSync(keys, `${KEY} alice\n`);
    await using keyed = await startService({
      env: { ...FEW_THREADS, LATTICE_API_KEYS_FILE: keys },
    });
    await page.goto(`${keyed.url}/ui#/jobs`);
    const field = page.getByLabel('Key', { exact: true });
    await field.waitFor();
    expect(await axeViolations(page)).toEqual([]);
    await field.fill('lat_wrong_0123456789abcdef');
    await page.getByRole('button', { name: 'Use this key' }).click();
    await page.getByText('The service does not know this key.').waitFor();
    await field.fill(KEY);
    await page.getByRole('button', { name: 'Use this key' }).click();
    await page.getByText('Live', { exact: true }).waitFor();
    await page.goto(`${keyed.url}/ui#/detect?path=shapes.png`);
    await page.locator('.stage img').waitFor();
    await page.getByRole('button', { name: 'Forget the key' }).click();
    await field.waitFor();
  });

  test('a connection that is lost is said, and comes back', async () => {
    const { dataDir } = service;
    let one = await startService({ dataDir: join(dataDir, 'other'), env: FEW_THREADS });
    await page.goto(`${one.url}/ui#/jobs`);
    await page.getByText('Live', { exact: true }).waitFor();
    await one.kill('SIGKILL');
    await page.getByText(/Reconnecting, last news/).waitFor();
    const port = new URL(one.url).port;
    one = await startService({
      dataDir: join(dataDir, 'other'),
      env: FEW_THREADS,
      flags: ['--port', port],
    });
    await page.getByText('Live', { exact: true }).waitFor({ timeout: 20_000 });
    await one.kill('SIGKILL');
  });
});
