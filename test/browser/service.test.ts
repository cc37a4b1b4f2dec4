/** The service view in a browser, and the views' looks: every width, light and dark. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { beforeEach, describe, expect, test } from 'vitest';
import {
  axeViolations,
  browserPath,
  screenshot,
  sidewaysScroll,
  wantsScreenshots,
  withPage,
} from './browser.js';
import { checkLooks } from './looks.js';
import { eventual } from '../support/eventually.js';
import { FEW_THREADS, detect, submit } from '../support/service-client.js';
import { startService, type ServiceProcess } from '../support/service-process.js';

const KEY = 'lat_alice_0123456789abcdef';
const WRONG_KEY = 'lat_wrong_0123456789abcdef';

describe.skipIf(browserPath === null)('the page', () => {
  let service: ServiceProcess;
  let page: Page;
  withPage({ LATTICE_SYNC_QUEUE: '99' }, (opened) => ({ service, page } = opened));

  beforeEach(async () => {
    await page.emulateMedia({ colorScheme: 'light' });
    await page.goto('about:blank');
  });

  test('the service view shows what is there and what goes wrong', async () => {
    await page.goto(`${service.url}/ui#/service`);
    // Beside other tests the machine may be overloaded, which is said too.
    const findings = () => page.locator('.findings').textContent();
    await eventual(findings).toMatch(/All is well: 1 worker ready|^The machine is overloaded/);
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
    await eventual(findings).toContain('1 image failed in the last minute: image_not_found.');
    expect(await page.locator('.stat').nth(1).textContent()).toMatch(/\d+.ms.*p95/);
    await model.getByRole('link', { name: 'Try it' }).click();
    await eventual(() => page.evaluate(() => location.hash)).toBe('#/detect?model=yolov8n.pt');
  });

  test('without any picture in the folders the first step is one of your own', async () => {
    await page.route('**/v1/images?*', (route) =>
      route.fulfill({ json: { under: '', entries: [], next_cursor: null } }),
    );
    await page.goto(`${service.url}/ui#/detect`);
    const chooser = page.waitForEvent('filechooser');
    await page.getByRole('button', { name: 'Open pictures of this machine' }).click();
    expect((await chooser).isMultiple()).toBe(true);
    await page.getByText('lattice serve --image-roots FOLDER').waitFor();
    await page.getByRole('button', { name: 'Use the example' }).click();
    await page.locator('.stage img').waitFor();
    await page.locator('.box-lines .box').first().waitFor();
    await page.unroute('**/v1/images?*');
  });

  test('no job is said to wait before the service has said so', async () => {
    let answer = (): void => undefined;
    const held = new Promise<void>((resolve) => (answer = resolve));
    const lists = '**/v1/jobs?*';
    await page.route(lists, async (route) => {
      await held;
      await route.continue();
    });
    await page.goto(`${service.url}/ui#/service`);
    const card = page.locator('.card.work').first();
    await page.locator('.model').first().waitFor();
    expect(await card.textContent()).not.toContain('No job waits');
    answer();
    await card.getByText('No job waits.').waitFor();
    await page.unroute(lists);
  });

  test('charts are loaded with their view only', async () => {
    const scripts: string[] = [];
    page.on('request', (request) => {
      if (request.resourceType() === 'script') scripts.push(new URL(request.url()).pathname);
    });
    await page.goto(`${service.url}/ui`);
    await page.getByRole('link', { name: 'Service' }).waitFor();
    expect(scripts).toContain('/ui/main.js');
    expect(scripts).not.toContain('/ui/service-view.js');
    await page.getByRole('link', { name: 'Service' }).click();
    await eventual(() => scripts).toContain('/ui/service-view.js');
  });

  // Before the service view: its charts need a job.
  const VIEWS: [name: string, hash: string, ready: string][] = [
    ['jobs-empty', '#/jobs', '.empty'],
    ['detect-empty', '#/detect', '.samples .thumbnail img'],
    ['detect', '#/detect?path=street.jpg', '.found'],
    ['service', '#/service', '.model'],
  ];
  test.each(VIEWS)('%s: no fault of axe, no sideways scroll', async (name, hash, ready) => {
    await page.goto(`${service.url}/ui${hash}`);
    await page.locator(ready).first().waitFor();
    if (name === 'service' && wantsScreenshots) await workForCharts();
    await checkLooks(page, name);
  });

  /** A minute and a half of calls and a job, so that there is something to chart. */
  async function workForCharts(): Promise<void> {
    const end = Date.now() + 90_000;
    await submit(service.url, { job_type: 'detect_vehicles', image_paths: Array.from({ length: 400 }, () => 'street.jpg'), priority: 5 }); // prettier-ignore
    for (let call = 0; Date.now() < end; call += 1) {
      await detect(service.url, { image_path: call % 9 === 0 ? 'nowhere.jpg' : 'street.jpg' });
      await new Promise((resolve) => setTimeout(resolve, 500 * (1 + Math.sin(call / 7))));
    }
  }

  test('the picker: no fault of axe', async () => {
    await page.goto(`${service.url}/ui`);
    await page.getByRole('button', { name: 'Browse', exact: true }).click();
    await page.locator('.tiles .thumbnail img').first().waitFor();
    expect(await axeViolations(page)).toEqual([]);
    await screenshot(page, 'picker-light');
    await page.setViewportSize({ width: 390, height: 844 });
    expect(await sidewaysScroll(page)).toBeLessThanOrEqual(0);
  });

  test('with API keys the page asks for one, keeps it, and forgets it; boxes need no picture', async () => {
    const keys = join(service.dataDir, 'keys');
    writeFileSync(keys, `${KEY} alice\n`);
    await using keyed = await startService({
      env: { ...FEW_THREADS, LATTICE_API_KEYS_FILE: keys, LATTICE_BROWSE: 'false' },
    });
    await page.goto(`${keyed.url}/ui#/jobs`);
    const field = page.getByLabel('Key', { exact: true });
    await field.waitFor();
    expect(await axeViolations(page)).toEqual([]);
    const models = '**/v1/models';
    let answer: () => void = () => undefined;
    const held = new Promise<void>((resolve) => (answer = resolve));
    await page.route(models, async (route) => {
      if (JSON.stringify(route.request().headers()).includes(WRONG_KEY)) await held;
      await route.continue();
    });
    await field.fill(WRONG_KEY);
    await page.getByRole('button', { name: 'Use this key' }).click();
    await page.getByText('The service does not know this key.').waitFor();
    await field.fill(KEY);
    await page.getByRole('button', { name: 'Use this key' }).click();
    await page.getByText('Live', { exact: true }).waitFor();
    // The late refusal of the wrong key does not take the right one away.
    const refused = page.waitForResponse((response) => response.status() === 401);
    answer();
    await (await refused).finished();
    await page.unroute(models);
    expect(await field.count()).toBe(0);
    await page.goto(`${keyed.url}/ui#/detect?path=shapes.png`);
    await page.getByText('The picture itself cannot be shown.').waitFor();
    expect(await page.locator('.box-lines .box').count()).toBeGreaterThan(0);
    await page.getByRole('button', { name: 'Forget the key' }).click();
    await field.waitFor();
  });

  test('a connection that is lost is said, and comes back', async () => {
    const { dataDir } = service;
    let one = await startService({ dataDir: join(dataDir, 'other'), env: FEW_THREADS });
    await page.goto(`${one.url}/ui#/jobs`);
    await page.getByText('Live', { exact: true }).waitFor();
    await one.kill('SIGKILL');
    await page.getByText(/The service is away, last news/).waitFor();
    const port = new URL(one.url).port;
    one = await startService({
      dataDir: join(dataDir, 'other'),
      env: FEW_THREADS,
      flags: ['--port', port],
    });
    await page.getByText('Live', { exact: true }).waitFor();
    await one.kill('SIGKILL');
  });
});
