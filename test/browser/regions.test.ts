/** The editor of regions in a browser, against a real service with its own detector. */
import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import type { DetectResponse, View } from '../../src/client/records.js';
import { axeViolations, browserPath, sidewaysScroll, withPage, openAnew } from './browser.js';
import { eventual } from '../support/eventually.js';
import { DEMO } from '../support/service-client.js';
import type { ServiceProcess } from '../support/service-process.js';

const SHOTS = process.env.REGION_SHOTS;

describe.skipIf(browserPath === null)('regions', () => {
  let service: ServiceProcess;
  let page: Page;
  withPage(
    { LATTICE_IMAGE_ROOTS: DEMO, LATTICE_PRECISION: 'f32' },
    (opened) => ({ service, page } = opened),
  );

  const open = async (hash: string) => {
    await openAnew(page, `${service.url}/ui#/detect${hash}`);
    await page.locator('.found').waitFor();
    await page.locator('.stage img').waitFor();
  };
  const edit = () =>
    page.locator('.picture-tools').getByRole('button', { name: 'Regions' }).click();
  /** `x`, `y`: shares of the picture. */
  const place = async (x: number, y: number): Promise<[number, number]> => {
    const stage = (await page.locator('.stage').boundingBox())!;
    return [stage.x + x * stage.width, stage.y + y * stage.height];
  };
  const press = async (x: number, y: number) => page.mouse.click(...(await place(x, y)));
  const labels = () => page.locator('span.region-label').allTextContents();
  const answerOf = async (fields: object): Promise<DetectResponse> => {
    const body = { image_path: 'street.jpg', confidence_threshold: 0.5, ...fields };
    const headers = { 'content-type': 'application/json' };
    const url = `${service.url}/v1/inference/detect`;
    const answer = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) });
    return (await answer.json()) as DetectResponse;
  };
  const countIn = (answer: DetectResponse, name: string) =>
    Object.values(answer.region_counts?.[name] ?? {}).reduce((all, count) => all + count, 0);
  const shot = async (name: string) => {
    if (SHOTS !== undefined) await page.screenshot({ path: `${SHOTS}/${name}.png` });
  };

  test('a region is drawn by pointer, saved as a view, and counted as the service does after a reload', async () => {
    await open('?path=street.jpg');
    await edit();
    await page.getByRole('button', { name: 'Draw a region' }).click();
    for (const [x, y] of [[0.05, 0.55], [0.6, 0.55], [0.6, 0.97], [0.3, 0.3], [0.05, 0.97]] as const) await press(x, y); // prettier-ignore
    await eventual(() => page.locator('.draft.wrong').count()).toBe(1);
    await page.keyboard.press('Backspace');
    await page.keyboard.press('Backspace');
    await press(0.05, 0.97);
    await shot('drawing-1280');
    await page.getByRole('button', { name: 'Close the region' }).first().click();
    await eventual(labels).toEqual([expect.stringMatching(/^region 1 \d+$/)]);
    await page.getByLabel('Name', { exact: true }).fill('near');
    // A corner is dragged by a pointer.
    const corner = page.getByRole('button', { name: /^Corner 2 of near/ });
    await corner.hover();
    await page.mouse.down();
    await page.mouse.move(...(await place(0.7, 0.5)), { steps: 4 });
    await page.mouse.up();
    expect(await corner.getAttribute('aria-label')).toContain('70 %, 50 %');
    await eventual(labels).toEqual([expect.stringMatching(/^near \d+$/)]);
    await shot('editor-1280');
    expect(await axeViolations(page)).toEqual([]);
    await page.getByLabel('Name of the view').fill('north');
    await page.getByRole('button', { name: 'Save as a view' }).click();
    await eventual(() => page.evaluate(() => location.hash)).toContain('view=north');
    await page.reload();
    await eventual(labels).toEqual([expect.stringMatching(/^near \d+$/)]);
    const view = (await (await fetch(`${service.url}/v1/views/north`)).json()) as View;
    expect(view.version).toBe(1);
    expect(view.regions[0]?.polygon).toHaveLength(4);
    const count = countIn(await answerOf({ view: 'north' }), 'near');
    expect(count).toBeGreaterThan(0);
    expect(await labels()).toEqual([`near ${count}`]);
    expect(await page.locator('.region-counts li').allTextContents()).toEqual([`near ${count}`]);
    expect(await page.locator('.box-class', { hasText: 'in near' }).count()).toBe(count);
    await shot('view-1280');
  });

  test('a region is made by keyboard alone; one that crosses itself is told at once, in the words of the service', async () => {
    await open('?path=street.jpg');
    await page.keyboard.press('r');
    const add = page.getByRole('button', { name: 'Add a rectangle' });
    await add.focus();
    await page.keyboard.press('Enter');
    const corner = (number: number) => page.getByRole('button', { name: new RegExp(`^Corner ${number} of`) }); // prettier-ignore
    await corner(1).focus();
    for (let step = 0; step < 30; step += 1) await page.keyboard.press('ArrowLeft');
    await page.keyboard.press('Shift+ArrowUp');
    const polygon = [[0.05, 0.349], [0.65, 0.35], [0.65, 0.65], [0.35, 0.65]]; // prettier-ignore
    const counted = countIn(
      await answerOf({ regions: [{ name: 'region 1', polygon }] }),
      'region 1',
    );
    await eventual(labels).toEqual([`region 1 ${counted}`]);
    await corner(4).focus();
    await page.keyboard.press('+');
    await eventual(() => page.locator('.corners .corner').count()).toBe(5);
    await corner(5).focus();
    await page.keyboard.press('Delete');
    await eventual(() => page.locator('.corners .corner').count()).toBe(4);
    let requests = 0;
    page.on('request', (request) => (requests += request.url().endsWith('/detect') ? 1 : 0));
    await corner(3).focus();
    for (let step = 0; step < 35; step += 1) await page.keyboard.press('ArrowUp');
    const crossed = [[0.05, 0.349], [0.65, 0.35], [0.65, 0.3], [0.35, 0.65]]; // prettier-ignore
    const problem = (await answerOf({ regions: [{ name: 'region 1', polygon: crossed }] })) as unknown as { errors: { detail: string }[] }; // prettier-ignore
    const alert = page.locator('.region-row [role=alert]');
    // The service says before it which field it is.
    expect(`regions.0.polygon: ${await alert.textContent()}`).toBe(problem.errors[0]!.detail);
    await shot('wrong-1280');
    expect(await page.getByRole('button', { name: 'Save as a view' }).isDisabled()).toBe(true);
    for (let step = 0; step < 35; step += 1) await page.keyboard.press('ArrowDown');
    await eventual(() => alert.textContent()).toBe('');
    expect(requests).toBeLessThan(5);
    // The corners are where they were; an answer to a polygon on the way may still be shown.
    await eventual(labels).toEqual([`region 1 ${counted}`]);
    // Drawn regions are in the address.
    await page.reload();
    await eventual(labels).toEqual([`region 1 ${counted}`]);
  });

  test('a view is chosen, changed, replaced and deleted; its paths stay', async () => {
    const polygon = [[0, 0.4], [1, 0.4], [1, 1], [0, 1]]; // prettier-ignore
    const body = JSON.stringify({ regions: [{ name: 'low', polygon }], paths: ['yard/**'] });
    const headers = { 'content-type': 'application/json' };
    await fetch(`${service.url}/v1/views/yard`, { method: 'PUT', headers, body });
    await open('?path=street.jpg');
    await page.getByRole('combobox', { name: 'View' }).selectOption('yard');
    await eventual(labels).toEqual([expect.stringMatching(/^low \d+$/)]);
    await page.getByRole('button', { name: 'As code' }).click();
    expect(await page.locator('.code').textContent()).toContain('"view":"yard"');
    await page.keyboard.press('Escape');
    await edit();
    await page.getByRole('button', { name: /^low/ }).click();
    await page.getByLabel('Leave out what lies in it').check();
    await eventual(() => page.locator('.found').textContent()).toContain('0 of');
    await page.getByRole('button', { name: 'Replace the view' }).click();
    await eventual(async () => {
      const view = (await (await fetch(`${service.url}/v1/views/yard`)).json()) as View;
      return [view.version, view.regions[0]?.ignore, view.paths];
    }).toEqual([2, true, ['yard/**']]);
    await page.getByRole('link', { name: 'Jobs' }).click();
    await page.getByRole('button', { name: 'New job' }).click();
    const offered = page.getByRole('dialog').getByLabel('Regions of the view');
    await eventual(() => offered.locator('option').allTextContents()).toContain('View yard');
    await page.keyboard.press('Escape');
    await open('?path=street.jpg&view=yard');
    await edit();
    const remove = page.getByRole('button', { name: 'Delete the view' });
    const asked = page.getByRole('dialog');
    await remove.click();
    await asked.getByText('The view yard with 1 region is deleted for good').waitFor();
    await page.keyboard.press('Escape');
    await asked.waitFor({ state: 'detached' });
    expect((await fetch(`${service.url}/v1/views/yard`)).status).toBe(200);
    await remove.click();
    await asked.getByRole('button', { name: 'Delete the view' }).click();
    await eventual(async () => (await fetch(`${service.url}/v1/views/yard`)).status).toBe(404);
    await eventual(() => page.url()).not.toContain('view=');
    await eventual(labels).toEqual(['low left out']);
  });

  test('it is usable at 375 pixels, in light and dark', async () => {
    await page.setViewportSize({ width: 375, height: 812 });
    await open('?path=street.jpg');
    await edit();
    await page.getByRole('button', { name: 'Add a rectangle' }).click();
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme });
      expect(await sidewaysScroll(page)).toBeLessThanOrEqual(0);
      expect(await axeViolations(page)).toEqual([]);
      await shot(`editor-375-${colorScheme}`);
    }
  });
});
