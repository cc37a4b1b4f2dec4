/** Photos of this machine as a job, by the page: a folder of a hundred, two that are dropped, and what is left out. */
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { eventual } from '../support/eventually.js';
import { DEMO } from '../support/service-client.js';
import type { ServiceProcess } from '../support/service-process.js';
import { axeViolations, browserPath, sidewaysScroll, withPage, openAnew } from './browser.js';

const PHOTOS = 100;
const UPLOADS = '**/v1/uploads/*/**';

describe.skipIf(browserPath === null)('photos as a job', () => {
  let service: ServiceProcess;
  let page: Page;
  let folder: string;
  let holiday: string;
  const jpeg = readFileSync(join(DEMO, 'street.jpg'));

  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'lattice-photo-job-'));
    holiday = join(folder, 'holiday');
    mkdirSync(join(holiday, 'day 2'), { recursive: true });
    for (let n = 0; n < PHOTOS; n += 1) {
      const name = `${n % 2 === 0 ? '' : 'day 2/'}IMG_${String(n).padStart(4, '0')}.jpg`;
      writeFileSync(join(holiday, name), jpeg);
    }
    for (let n = 0; n < 6; n += 1) writeFileSync(join(holiday, `IMG_9${n}.HEIC`), 'ftypheic');
    writeFileSync(join(holiday, 'clip.MOV'), 'ftypqt');
    writeFileSync(join(holiday, 'broken.jpg'), jpeg.subarray(0, 9_000));
    writeFileSync(join(holiday, 'no-picture.jpg'), 'not a picture');
  });
  withPage({ LATTICE_IMAGE_ROOTS: DEMO, LATTICE_PRECISION: 'f32' }, (opened) => {
    ({ service, page } = opened);
  });
  afterAll(() => {
    rmSync(folder, { recursive: true, force: true });
  });

  const open = async () => {
    await openAnew(page, `${service.url}/ui#/detect`);
  };
  const dialog = () => page.getByRole('dialog', { name: 'Photos as a job' });
  const uploads = () => {
    const path = join(service.dataDir, 'uploads');
    return existsSync(path) ? readdirSync(path) : [];
  };

  test('a folder of 100 photos: what is left out is said before, and on the page of the job', async () => {
    await open();
    await page.getByLabel('Folder of this machine').setInputFiles(holiday);
    await dialog().getByText('102 pictures').waitFor();
    await dialog().getByText('7 files left out: 6 HEIC, 1 video').click();
    await dialog().getByText('holiday/clip.MOV: Videos are not read').waitFor();
    expect(await axeViolations(page)).toEqual([]);
    await page.getByRole('button', { name: 'Send and detect' }).focus();
    await page.keyboard.press('Enter');
    await page.waitForURL(/#\/jobs\/job_/);
    await page.getByText('8 files left out: 6 HEIC, 1 video, 1 other file.').waitFor();
    await expect
      .poll(() => page.locator('.job-facts').textContent())
      .toContain('101 of 101 images, 1 failed');
    await page.getByText('IMG_0000.jpg').first().waitFor();
    // The thumbnails are those of the upload.
    await eventual(() => page.locator('.thumbnail img').count()).toBeGreaterThan(5);
    expect(await page.getByText('Cannot be shown').count()).toBe(0);
    await page.locator('a:has(.thumbnail)').first().click();
    await page.locator('.stage img').waitFor();
    await page.reload();
    await page.locator('.stage img').waitFor();
    await page.setViewportSize({ width: 390, height: 800 });
    expect(await sidewaysScroll(page)).toBeLessThanOrEqual(0);
  });

  const drop = (names: string[]) =>
    page.evaluate(
      async ([url, wanted]) => {
        const blob = await (await fetch(url)).blob();
        const data = new DataTransfer();
        for (const name of wanted) data.items.add(new File([blob], name, { type: 'image/jpeg' }));
        const init = { bubbles: true, cancelable: true, dataTransfer: data };
        document.body.dispatchEvent(new DragEvent('drop', init));
      },
      [`${service.url}/v1/images/file?path=street.jpg`, names] as [string, string[]],
    );

  test('the second of two dropped pictures is not ignored; a cancel leaves nothing', async () => {
    await open();
    await page.getByRole('button', { name: 'street.jpg' }).waitFor();
    const before = uploads().length;
    await drop(['a.jpg', 'b.jpg']);
    await dialog().getByText('2 pictures').waitFor();
    expect(uploads().length).toBe(before + 1);
    await page.getByRole('button', { name: 'Cancel' }).click();
    await eventual(() => dialog().count()).toBe(0);
    await eventual(() => uploads().length).toBe(before);
    // One is a detection on the spot, as ever.
    await drop(['a.jpg']);
    await page.locator('.found').waitFor();
    expect(await dialog().count()).toBe(0);
  });

  test('a connection that breaks can go on with the rest', async () => {
    await open();
    await page.getByRole('button', { name: 'street.jpg' }).waitFor();
    await drop(['a.jpg', 'b.jpg', 'c.jpg', 'd.jpg']);
    let sent = 0;
    await page.route(UPLOADS, async (route) => {
      sent += 1;
      if (sent === 1) await route.continue();
      else
        await route.fulfill({
          status: 500,
          json: { code: 'internal_error', title: 'Broken', detail: 'Broken.' },
        });
    });
    await page.getByRole('button', { name: 'Send and detect' }).click();
    await page.getByRole('alert').getByText('Broken.').waitFor();
    await page.unroute(UPLOADS);
    let repeated = 0;
    page.on('request', (request) => (repeated += request.method() === 'PUT' ? 1 : 0));
    await page.getByRole('button', { name: 'Go on with the rest' }).click();
    await page.waitForURL(/#\/jobs\/job_/);
    expect(repeated).toBe(3);
    await eventual(() => page.locator('.job-facts').textContent()).toContain('of 4 images');
  });
});
