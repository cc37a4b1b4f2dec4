/** Another question of a finished job on the live page, against fresh jobs of the same options. */
import { text } from 'node:stream/consumers';
import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import type { JobCounts, JobQuestion, JobSubmit, JobSummary } from '../../src/client/records.js';
import { queryOf } from '../../src/client/api-calls.js';
import { LatticeClient } from '../../src/client/lattice-client.js';
import { eventual } from '../support/eventually.js';
import { browserPath, withPage, openAnew } from './browser.js';
import { checkLooks } from './looks.js';
import { copyPhotos } from './photos.js';

const PHOTOS = 16;
const ASKED = { confidence_threshold: 0.25, classes: ['car', 'bus'] };
const NEAR = [[0.04, 0.2], [0.96, 0.2], [0.96, 0.85], [0.04, 0.85]] as const; // prettier-ignore

let client: LatticeClient;
let url: string;
let page: Page;

/** An ended job of all photos. */
async function jobOf(options: Partial<JobSubmit>): Promise<string> {
  const submit: JobSubmit = { job_type: 'detect_vehicles', image_paths: ['.'], ...options };
  const { job_id } = await client.submit(submit);
  await client.waitFor(job_id);
  return job_id;
}

const grouped = (value: number) => value.toLocaleString('en-US');
const slider = () => page.getByRole('slider', { name: /^Confidence at least/ });
const bar = () => page.getByRole('region', { name: 'Question' });
const sumOf = (counts: Record<string, number> = {}) =>
  Object.values(counts).reduce((sum, count) => sum + count, 0);

async function saved(name: string): Promise<string> {
  const link = page.locator('a[download]', { hasText: name });
  const [download] = await Promise.all([page.waitForEvent('download'), link.first().click()]);
  return text(await download.createReadStream());
}

/** The numbers of the page are those of the service. */
async function showsFigures({ total_count: boxes, images, classes }: JobSummary): Promise<void> {
  await page.getByRole('heading', { name: `${grouped(boxes)} boxes by class` }).waitFor();
  await page.getByRole('button', { name: `With boxes ${grouped(images.found)}` }).waitFor();
  for (const { class: name, boxes: count } of classes) {
    await page.getByRole('button', { name: `${name} ${grouped(count)}` }).waitFor();
  }
}

/** The boxes of the first tiles are those that the service gives. */
async function showsTiles(job: string, question: JobQuestion): Promise<void> {
  const { images } = await client.images(job, { limit: 6 }, { question });
  const boxes = images.map((image) => (image.status === 'ok' ? image.detections.length : 0));
  await eventual(async () => {
    const counts = await page.locator('.grid-tile .count').allTextContents();
    return counts.slice(0, boxes.length).map((count) => parseInt(count));
  }).toEqual(boxes);
}

describe.skipIf(browserPath === null)('another question of a job in a browser', () => {
  let job: string;
  withPage(
    { LATTICE_PRECISION: 'f32' },
    (opened) => {
      page = opened.page;
      url = opened.service.url;
      client = new LatticeClient({ url });
    },
    async (_dataDir, imageRoot) => {
      await copyPhotos(imageRoot, PHOTOS);
    },
  );

  const open = async (query = '') => {
    await openAnew(page, `${url}/ui#/jobs/${job}${query}`);
    await page.locator('.grid-tile img').first().waitFor();
  };

  test('the slider and an added class change figures, tiles and downloads; a reload keeps them, a button leads back', async () => {
    job = await jobOf({ classes: ['car'], confidence_threshold: 0.5, name: 'Gate' });
    const own = await client.summary(job);
    await open();
    await showsFigures(own);
    await bar().waitFor({ state: 'hidden' });
    await slider().fill('25');
    const lower = { confidence_threshold: 0.25 };
    const first = await client.summary(job, { question: lower });
    await showsFigures(first);
    await showsTiles(job, lower);
    await page.getByLabel('Add a class').selectOption('bus');
    const second = await client.summary(job, { question: ASKED });
    expect(second.total_count).toBeGreaterThan(own.total_count);
    await showsFigures(second);
    await showsTiles(job, ASKED);
    await bar().getByText('Confidence at least 25 %; Classes car, bus').waitFor();
    expect(page.url()).toContain(queryOf(ASKED));
    await page.reload();
    await showsFigures(second);
    expect(await slider().inputValue()).toBe('25');
    await checkLooks(page, 'job-question');
    await page.setViewportSize({ width: 1280, height: 800 });

    const fresh = await jobOf(ASKED);
    const ofFresh = await text(client.export(fresh, 'csv'));
    expect((await saved('CSV')).replaceAll(job, fresh)).toBe(ofFresh);
    await page.getByRole('button', { name: 'Changes' }).click();
    await page.goto(`${page.url()}&with=${fresh}`);
    await page.getByText('No image has changes').waitFor();
    await page.getByRole('button', { name: 'Images' }).click();

    await bar()
      .getByRole('button', { name: /own question/ })
      .click();
    await showsFigures(own);
    await showsTiles(job, {});
    await bar().waitFor({ state: 'hidden' });
  });

  test('a region is drawn afterwards on one picture, and counted in all, by hour and in files', async () => {
    await open(queryOf(ASKED));
    await page.getByRole('button', { name: 'Draw regions' }).click();
    await page.locator('.stage img').waitFor();
    await page.getByRole('button', { name: 'Draw a region' }).click();
    const stage = (await page.locator('.stage').boundingBox())!;
    for (const [x, y] of NEAR) {
      await page.mouse.click(stage.x + x * stage.width, stage.y + y * stage.height);
    }
    await page.getByRole('button', { name: 'Close the region' }).first().click();
    await page.getByLabel('Name', { exact: true }).fill('near');
    await eventual(() => page.locator('span.region-label').allTextContents()).toEqual([
      expect.stringMatching(/^near \d+$/),
    ]);
    await checkLooks(page, 'job-question-region');
    await page.setViewportSize({ width: 1280, height: 800 });
    await page.getByRole('button', { name: 'Done' }).click();
    const [region] = JSON.parse(new URLSearchParams(page.url().split('?')[1]).get('regions')!) as NonNullable<JobQuestion['regions']>; // prettier-ignore
    const question = { ...ASKED, regions: [region!] };
    const fresh = await jobOf(question);
    const { region_counts } = await client.summary(fresh);
    const inside = sumOf(region_counts?.near);
    expect(inside).toBeGreaterThan(0);

    await page.getByRole('link', { name: 'All images' }).click();
    await eventual(() => page.locator('.region-counts li').allTextContents()).toEqual([
      `near ${grouped(inside)}`,
    ]);
    await page.getByText('Boxes by hour, day or folder').click();
    await page.getByRole('button', { name: 'Folder' }).click();
    const counts: JobCounts = await client.counts(fresh, 'folder');
    const chart = `${grouped(counts.total.detections)} boxes in 1 group`;
    await page.getByRole('img', { name: new RegExp(`^${chart}`) }).waitFor();
    const file = await saved('CSV');
    expect(file.replaceAll(job, fresh)).toBe(await text(client.export(fresh, 'csv')));
    const link = page.locator('.card a[download]', { hasText: 'CSV' });
    const [download] = await Promise.all([page.waitForEvent('download'), link.click()]);
    expect(await text(await download.createReadStream())).toBe(
      await text(client.countsCsv(fresh, 'folder')),
    );
    expect(file).toContain('near');
  });

  test('a filtered image stays when the slider moves, and its neighbours follow', async () => {
    const { images } = await client.images(job, { outcome: 'found' });
    const last = images.length - 1;
    await open('?outcome=found');
    await page.locator(`[data-place="${last}"]`).click();
    await page.getByText(`${last + 1} of ${images.length}`).waitFor();
    const { index, image_path: path } = images[last]!;
    await slider().fill('5');
    const asked = { question: { confidence_threshold: 0.05 } };
    const { images: lower } = await client.images(job, { offset: index, limit: 1 }, asked);
    const boxes = lower.flatMap((image) => (image.status === 'ok' ? image.detections : [])).length;
    await eventual(() => page.locator('.box-row').count()).toBe(boxes);
    expect(await page.locator('.image-head h1').textContent()).toBe(path);
  });

  test('a question below the floor is refused in words; what was shown stays', async () => {
    const own = await client.summary(job);
    await open('?confidence_threshold=0.01');
    await bar().getByText('needs_new_run').waitFor();
    await bar().getByText('Submit its images as a new job').waitFor();
    await showsFigures(own);
    await showsTiles(job, {});
    await checkLooks(page, 'job-question-refused');
    await page.setViewportSize({ width: 1280, height: 800 });
    await bar()
      .getByRole('button', { name: /own question/ })
      .click();
    await bar().waitFor({ state: 'hidden' });
    expect(page.url()).not.toContain('confidence_threshold');
  });
});
