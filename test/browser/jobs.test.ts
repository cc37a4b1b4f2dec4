/** The jobs of the live page, as people use them: against a real service with real photos. */
import { readFileSync } from 'node:fs';
import { text } from 'node:stream/consumers';
import { unzipSync } from 'fflate';
import type { Page } from 'playwright-core';
import sharp from 'sharp';
import { beforeEach, describe, expect, test } from 'vitest';
import type { ImageOutcome } from '../../src/store/job.js';
import { errorOutcome, okOutcome } from '../support/outcomes.js';
import { eventual, eventually } from '../support/eventually.js';
import type { ServiceProcess } from '../support/service-process.js';
import {
  axeViolations,
  browserPath,
  screenshot,
  withPage,
  type OpenedPage,
  openAnew,
} from './browser.js';
import { checkLooks } from './looks.js';
import { copyPhotos, type Photo } from './photos.js';
import { seedJob, type SeededImage } from './seeded-job.js';

const BIG = 'job_browserTestOfThousand';
const IMAGES = 1_000;
/** Enough that a job of them is still running when the service is killed. */
const MOST_PHOTOS = 40;
/** One of ten images has failed, one is empty. */
function outcomeOf({ size, detections }: Photo, index: number): ImageOutcome {
  if (index % 10 === 9) return errorOutcome('invalid_image');
  const found = index % 10 === 8 ? [] : detections;
  return { ...okOutcome([]), image: size, detections: found } as ImageOutcome;
}

const hasClass = ({ outcome }: SeededImage, name: string): boolean =>
  outcome.status === 'ok' && outcome.detections.some((each) => each.class === name);

let images: SeededImage[];
let service: ServiceProcess;
let page: Page;
let restart: () => Promise<void>;

const at = (hash: string): string => `${service.url}/ui${hash}`;
const jobHash = `#/jobs/${BIG}`;
const tiles = () => page.locator('.grid a.grid-tile');

describe.skipIf(browserPath === null)('jobs in a browser', () => {
  const onOpened = (opened: OpenedPage) => ({ service, page, restart } = opened);
  withPage({}, onOpened, async (dataDir, imageRoot) => {
    const photos = await copyPhotos(imageRoot, MOST_PHOTOS);
    images = Array.from({ length: IMAGES }, (_, index) => {
      const photo = photos[index % photos.length];
      if (photo === undefined) throw new Error('There are no photos.');
      return { path: photo.name, outcome: outcomeOf(photo, index) };
    });
    await seedJob(dataDir, BIG, images, { metadata: '{"title":"North gate"}' });
  });
  beforeEach(async () => {
    await page.setViewportSize({ width: 1280, height: 860 });
    await page.emulateMedia({ colorScheme: 'light' });
    await page.goto('about:blank');
  });

  test('a job is submitted by keyboard, watched through a kill of the service, and ends', async () => {
    await page.goto(at('#/jobs'));
    await page.locator('.job-row').first().waitFor();
    await page.keyboard.press('n');
    await page.getByLabel(/Images, folders or globs/).waitFor();
    expect(await axeViolations(page)).toEqual([]);
    await screenshot(page, 'new-job-light');
    await page.keyboard.type('**/*.jpg');
    await page.getByText('Name, tags').focus();
    await page.keyboard.press('Enter');
    await page.getByLabel('Name', { exact: true }).focus();
    await page.keyboard.type('Watched');
    await page.getByLabel(/^Tags/).fill('night, north');
    await page.getByLabel('Results are kept').selectOption('true');
    await page.getByRole('button', { name: 'Submit the job' }).focus();
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Watched' }).waitFor();
    const done = page.locator('.job-facts b').first();
    await eventually(async () => {
      expect(Number(await done.textContent())).toBeGreaterThan(0);
    });
    await service.kill('SIGKILL');
    await page.locator('.connection', { hasNotText: 'Live' }).waitFor();
    await restart();
    await page.locator('.pill.completed').waitFor();
    await page.getByRole('link', { name: 'CSV' }).waitFor();
    expect(await tiles().count()).toBeGreaterThan(5);
    await page.locator('.tag', { hasText: 'night' }).waitFor();
    await page.getByText('Kept until it is deleted').waitFor();
  });

  test('the boxes of a job are charted by folder, and saved as CSV', async () => {
    await page.goto(at(jobHash));
    await page.getByText('Boxes by hour, day or folder').click();
    await page.getByText('1,000 unknown').waitFor();
    await page.getByRole('button', { name: 'Folder' }).click();
    const boxes = images.reduce(
      (sum, { outcome }) => sum + (outcome.status === 'ok' ? outcome.detections.length : 0),
      0,
    );
    const name = new RegExp(`^${boxes.toLocaleString('en-US')} boxes in 1 group`);
    await page.getByRole('img', { name }).waitFor();
    expect(await page.locator('rect title').first().textContent()).toMatch(/^\.: 1,000 images, /);
    expect(await axeViolations(page)).toEqual([]);
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.locator('.card a[download]', { hasText: 'CSV' }).click(),
    ]);
    expect(download.suggestedFilename()).toBe(`${BIG}.counts-by-folder.csv`);
    expect(await text(await download.createReadStream())).toMatch(
      new RegExp(`^folder,images,.*\r\n\\.,1000,100,\\d+,${boxes},`),
    );
  });

  test('a late answer to an earlier choice does not take the place of a later one', async () => {
    const byHour = '**/counts?by=hour*';
    let answer = (): void => undefined;
    const held = new Promise<void>((resolve) => (answer = resolve));
    await page.route(byHour, async (route) => {
      await held;
      await route.continue();
    });
    await page.goto(at(jobHash));
    await page.getByText('Boxes by hour, day or folder').click();
    await page.getByRole('button', { name: 'Folder' }).click();
    const byFolder = page.getByRole('img', { name: /boxes in 1 group/ });
    await byFolder.waitFor();
    const late = page.waitForResponse(byHour);
    answer();
    await (await late).finished();
    await page.evaluate(() => new Promise((resolve) => setTimeout(resolve, 300)));
    expect(await byFolder.count()).toBe(1);
    await page.unroute(byHour);
  });

  test('a job of 1,000 images is scrolled, filtered and opened; Back leads to the same tile', async () => {
    await page.goto(at(jobHash));
    await tiles().first().waitFor();
    expect(await tiles().count()).toBeLessThan(80);
    await page.locator('.thumbnail img').first().waitFor();
    await tiles().first().focus();
    await page.keyboard.press('End');
    await page.locator(`[data-place="${IMAGES - 1}"]:focus`).waitFor();
    expect(await page.locator('li:has(:focus)').getAttribute('aria-posinset')).toBe(String(IMAGES));
    await page.keyboard.press('Home');
    await page.locator('[data-place="0"]:focus').waitFor();

    await page.getByRole('button', { name: /^Failed/ }).click();
    await page.getByText(`100 images of 1,000 images`).waitFor();
    await page.locator('.grid-tile.error').first().waitFor();
    expect(await page.locator('.grid-tile.ok').count()).toBe(0);
    await page.getByRole('button', { name: 'Clear the filters' }).click();
    const cars = images.filter((image) => hasClass(image, 'car')).length;
    await page.getByRole('button', { name: /^car/ }).click();
    await page.getByText(`${cars} images of`).waitFor();
    await page.getByLabel(/unsure box/).fill('90');
    await eventually(() => {
      expect(page.url()).toContain('class=car&below=90');
    });

    await page.locator('[data-place="7"]').focus();
    await page.keyboard.press('Enter');
    await page.getByText(/^8 of \d+$/).waitFor();
    await page.keyboard.press('ArrowRight');
    await page.getByText(/^9 of \d+$/).waitFor();
    await page.locator('.stage img').waitFor();
    await page.goBack();
    await page.locator('[data-place="8"]:focus').waitFor();
  });

  test('images that cannot be read take none away that are shown, and come once they can be read', async () => {
    const images = `**/v1/jobs/${BIG}/images?*`;
    const problem = page.locator('.job-images .problem');
    const last = page.locator(`[data-place="${IMAGES - 1}"]`);
    await page.goto(at(jobHash));
    await page.locator('.thumbnail img').first().waitFor();
    await page.route(images, (route) => route.abort());
    await tiles().first().focus();
    await page.keyboard.press('End');
    await problem.waitFor();
    expect(await last.getAttribute('aria-label')).toBe('Loading');
    await page.unroute(images);
    await problem.waitFor({ state: 'detached' });
    expect(await last.getAttribute('href')).toContain(`/images/${IMAGES - 1}`);
  });

  test('a class and a confidence ask for one box that fits both; tiles count such boxes', async () => {
    const fits = ({ outcome }: SeededImage, names: string[], below = 1) =>
      outcome.status === 'ok'
        ? outcome.detections.filter((box) => names.includes(box.class) && box.confidence < below)
        : [];
    const matching = (names: string[], below?: number) =>
      images.filter((image) => fits(image, names, below).length > 0);
    const [first] = matching(['bus'], 0.6);
    await page.goto(at(`${jobHash}?class=bus&below=60`));
    await page.getByText(`${matching(['bus'], 0.6).length} images of`).waitFor();
    const count = page.locator('[data-place="0"] .count');
    expect(parseInt((await count.textContent())!)).toBe(fits(first!, ['bus'], 0.6).length);
    await page.getByRole('button', { name: /^truck/ }).click();
    await page.getByText(`${matching(['bus', 'truck'], 0.6).length} images of`).waitFor();
    expect(page.url()).toContain('class=bus%2Ctruck&below=60');
    expect(matching(['bus'], 0.6).length).toBeLessThan(
      images.filter((image) => hasClass(image, 'bus')).length,
    );
  });

  test('an image of a job has the keys of a picture; slider and chips ask all of the job', async () => {
    await page.goto(at(`${jobHash}/images/1`));
    const rows = page.locator('.box-row > button');
    await rows.first().waitFor();
    // At the threshold of the job, where no box is less certain.
    expect(await page.getByRole('slider').inputValue()).toBe('25');
    await page.keyboard.press('j');
    await page.keyboard.press('j');
    expect(await rows.nth(1).getAttribute('aria-pressed')).toBe('true');
    await page.keyboard.press('k');
    expect(await rows.first().getAttribute('aria-pressed')).toBe('true');
    await page.keyboard.press('z');
    await page.locator('.stage.zoomed').waitFor();
    await page.keyboard.press('f');
    await page.locator('.stage:not(.zoomed)').waitFor();
    await page.keyboard.press('l');
    expect(await page.locator('.box-labels').count()).toBe(0);
    await page.keyboard.down('h');
    expect(await page.locator('.boxes').count()).toBe(0);
    await page.keyboard.up('h');
    expect(await page.locator('.boxes').count()).toBe(1);

    await page.getByRole('slider').fill('60');
    await page.locator('.chip', { hasText: 'car' }).click();
    await page.keyboard.press('ArrowRight');
    await page.getByText(/^3 of/).waitFor();
    const asked = 'confidence_threshold=0.6&classes=motorcycle%2Cbus%2Ctruck';
    expect(page.url()).toContain(`/images/2?${asked}`);
    expect(await page.getByRole('slider').inputValue()).toBe('60');
    const fits = ({ outcome }: SeededImage) =>
      outcome.status === 'ok'
        ? outcome.detections.filter(
            (box) => box.confidence > 0.6 && ['motorcycle', 'bus', 'truck'].includes(box.class),
          ).length
        : 0;
    await eventual(() => rows.count()).toBe(fits(images[2]!));
    // One level back at a time: the marked box, then the grid, whose pictures keep the choice.
    await page.keyboard.press('j');
    await page.keyboard.press('Escape');
    expect(await page.locator('.box-row > [aria-pressed=true]').count()).toBe(0);
    await page.keyboard.press('Escape');
    await page.locator('[data-place="2"][href]:focus').waitFor();
    await page.keyboard.press('Enter');
    await page.getByText(/^3 of/).waitFor();
    expect(await page.getByRole('slider').inputValue()).toBe('60');
    await page.keyboard.press('Escape');
    const boxes = images.reduce((sum, image) => sum + fits(image), 0);
    await page.getByRole('heading', { name: `${boxes.toLocaleString('en')} boxes` }).waitFor();
    await page.getByRole('button', { name: /own question/ }).click();
    await page.getByRole('region', { name: 'Question' }).waitFor({ state: 'hidden' });
    expect(page.url()).not.toContain('?');
  });

  test('an image that is opened by its address shows its picture, each time', async () => {
    for (let time = 0; time < 10; time++) {
      await openAnew(page, at(`${jobHash}/images/3`));
      await page.locator('.stage img').waitFor();
    }
  });

  test('the boxes of a job are shown as crops, least certain first; a press opens the image at the box', async () => {
    await page.goto(at(`${jobHash}?show=boxes&class=bus,truck`));
    const all = images.flatMap(({ outcome }) =>
      outcome.status === 'ok'
        ? outcome.detections.filter((box) => ['bus', 'truck'].includes(box.class))
        : [],
    );
    const least = Math.min(...all.map(({ confidence }) => confidence));
    await page.getByText(`${all.length.toLocaleString('en')} boxes, least certain first`).waitFor();
    await page.locator('.grid .thumbnail img').first().waitFor();
    expect(await tiles().count()).toBeLessThan(80);
    const scores = await page.locator('.grid .count').allTextContents();
    expect(parseInt(scores[0]!)).toBe(Math.round(least * 100));
    expect(scores.map((score) => parseInt(score))).toEqual(
      scores.map((score) => parseInt(score)).sort((a, b) => a - b),
    );
    await page.locator('[data-place="3"]').click();
    await page.locator('.box-row > [aria-pressed=true]').waitFor();
    await page.locator('.stage.zoomed').waitFor();
    const said = await page.locator('.box-row > [aria-pressed=true] .box-score').textContent();
    expect(said).toBe(scores[3]);
    await page.goBack();
    await page.locator('[data-place="3"]:focus').waitFor();
  });

  test('the pictures of a job are saved as a zip, the picture of an image as PNG', async () => {
    await page.goto(at('#/jobs?state=completed'));
    await page
      .getByRole('link', { name: /Watched/ })
      .first()
      .click();
    const link = page.getByRole('link', { name: 'Pictures' });
    await link.waitFor();
    const [archive] = await Promise.all([page.waitForEvent('download'), link.click()]);
    expect(archive.suggestedFilename()).toMatch(/^job_.*\.pictures\.zip$/);
    const names = Object.keys(unzipSync(readFileSync(await archive.path())));
    expect(names).toContain('pictures.csv');
    expect(names.length).toBeGreaterThan(5);
    for (const [name, table] of [
      ['Covered', 'covered.csv'],
      ['Crops', 'crops.csv'],
    ] as const) {
      // prettier-ignore
      const press = page.getByRole('link', { name }).click();
      const [other] = await Promise.all([page.waitForEvent('download'), press]);
      expect(Object.keys(unzipSync(readFileSync(await other.path())))).toContain(table);
    }
    await page.goto(at(`${jobHash}/images/0`));
    await page.locator('.stage img').waitFor();
    const press = page.getByRole('button', { name: /as PNG/ }).click();
    const [picture] = await Promise.all([page.waitForEvent('download'), press]);
    const { outcome, path } = images[0]!;
    expect(picture.suggestedFilename()).toBe(path.replace('.jpg', '-boxes.png'));
    const { width, height, format } = await sharp(await picture.path()).metadata();
    const size = outcome.status === 'ok' ? outcome.image : null;
    expect([format, { width, height }]).toEqual(['png', size]);
  });

  test('a result is downloaded, and its failed images run again as a new job', async () => {
    await page.goto(at(jobHash));
    const link = page.getByRole('link', { name: 'CSV' });
    await link.waitFor();
    const [download] = await Promise.all([page.waitForEvent('download'), link.click()]);
    expect(download.suggestedFilename()).toBe(`${BIG}.csv`);
    expect(await download.failure()).toBeNull();
    await page.getByRole('button', { name: 'Retry 100 failed images' }).click();
    await page.getByText('runs images of').waitFor();
    expect(page.url()).not.toContain(BIG);
    await page.getByRole('button', { name: 'Cancel' }).click();
    await page.locator('.pill.cancelled, .pill.completed').waitFor();
  });

  test('the list has tabs by state, and its rows are opened by keyboard', async () => {
    await page.goto(at('#/jobs?state=completed'));
    await page.locator('.job-row').first().waitFor();
    expect(await page.locator('.pill:not(.completed)').count()).toBe(0);
    await page.keyboard.press('j');
    await page.locator('.job-link:focus').waitFor();
    await page.keyboard.press('Enter');
    await tiles().first().waitFor();
    await page.goBack();
    await page.locator('.tabs a[aria-current]', { hasText: 'Completed' }).waitFor();
  });

  test('rows do not move under a reader: a new job waits behind a button', async () => {
    await page.goto(at('#/jobs'));
    await page.locator('.job-row').first().waitFor();
    await page.keyboard.press('j');
    await page.locator('.job-link:focus').waitFor();
    const rows = await page.locator('.job-row').count();
    const body = JSON.stringify({ job_type: 'batch_detect', image_paths: ['none.jpg'] });
    const headers = { 'content-type': 'application/json' };
    await fetch(`${service.url}/v1/jobs/submit`, { method: 'POST', headers, body });
    await page.getByRole('button', { name: '1 new' }).waitFor();
    expect(await page.locator('.job-row').count()).toBe(rows);
    await page.getByRole('button', { name: '1 new' }).click();
    await eventually(async () => {
      expect(await page.locator('.job-row').count()).toBe(rows + 1);
    });
  });

  const VIEWS: [name: string, hash: string, ready: string][] = [
    ['jobs', '#/jobs', '.job-row'],
    ['job', jobHash, '.grid-tile img'],
    ['job-boxes', `${jobHash}?show=boxes`, '.grid-tile img'],
    ['job-failed', `${jobHash}?outcome=failed`, '.grid-tile.error'],
    ['job-image', `${jobHash}/images/3`, '.stage img'],
  ];

  test.each(VIEWS)('%s: no fault of axe, no sideways scroll', async (name, hash, ready) => {
    await page.goto(at(hash));
    await page.locator(ready).first().waitFor();
    await checkLooks(page, name);
  });
});
