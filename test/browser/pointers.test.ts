/** The mouse on a picture in a browser, against a real service with its own detector. */
import type { Page } from 'playwright-core';
import { beforeEach, describe, test } from 'vitest';
import { eventual } from '../support/eventually.js';
import { DEMO } from '../support/service-client.js';
import type { ServiceProcess } from '../support/service-process.js';
import { browserPath, withPage, openAnew } from './browser.js';

describe.skipIf(browserPath === null)('the mouse on a picture', () => {
  let service: ServiceProcess;
  let page: Page;
  withPage(
    { LATTICE_IMAGE_ROOTS: DEMO, LATTICE_PRECISION: 'f32' },
    (opened) => ({ service, page } = opened),
  );

  const row = () => page.locator('.box-row > button').nth(1);
  const isPinned = () => row().getAttribute('aria-pressed');
  const activeBox = () => page.locator('.box-row.active').getAttribute('data-box');
  /** A place on the box of the second row, and on no other one. */
  let onBox: { x: number; y: number };

  beforeEach(async () => {
    await openAnew(page, `${service.url}/ui#/detect?path=street.jpg`);
    await page.locator('.box-lines .box').first().waitFor();
    await row().hover();
    const box = (await page.locator('.marked .line').boundingBox())!;
    onBox = { x: box.x + box.width / 2, y: box.y + box.height * 0.7 };
  });

  test('a button that was released beside the picture is not held on it', async () => {
    const stage = (await page.locator('.stage').boundingBox())!;
    await page.mouse.move(onBox.x, onBox.y);
    await page.mouse.down();
    await page.mouse.move(stage.x + stage.width / 2, stage.y - 10, { steps: 5 });
    await page.mouse.up();
    await page.mouse.move(onBox.x, onBox.y, { steps: 5 });
    await eventual(activeBox).toBe('1');
    await page.mouse.move(stage.x + stage.width / 2, stage.y - 10, { steps: 5 });
    await eventual(() => page.locator('.box-row.active').count()).toBe(0);
    await page.mouse.click(onBox.x, onBox.y);
    await eventual(isPinned).toBe('true');
  });

  test('only the left button presses', async () => {
    await page.mouse.move(onBox.x, onBox.y);
    await eventual(activeBox).toBe('1');
    await page.mouse.click(onBox.x, onBox.y, { button: 'right' });
    await page.mouse.click(onBox.x, onBox.y);
    await eventual(isPinned).toBe('true');
    await page.mouse.click(onBox.x, onBox.y, { button: 'middle' });
    await page.mouse.click(onBox.x, onBox.y);
    await eventual(isPinned).toBe('false');
  });
});
