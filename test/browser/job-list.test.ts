/** Jobs that people find again on the live page: searched, named, tagged, kept, deleted; and one that was cancelled. */
import type { Page } from 'playwright-core';
import { beforeEach, describe, expect, test } from 'vitest';
import type { JobStatus } from '../../src/client/records.js';
import type { ImageOutcome } from '../../src/store/job.js';
import { eventual } from '../support/eventually.js';
import { errorOutcome, okOutcome } from '../support/outcomes.js';
import type { ServiceProcess } from '../support/service-process.js';
import { browserPath, withPage, type OpenedPage } from './browser.js';
import { checkLooks } from './looks.js';
import { copyPhotos, type Photo } from './photos.js';
import { seedJob, type SeededImage } from './seeded-job.js';

const DAY_S = 24 * 3_600;
const typed = (...paths: string[]) => ({ paths, count: paths.length });

let photos: Photo[];
let service: ServiceProcess;
let page: Page;

/** Each tenth image has failed; the others have two cars and a bus. */
const images = (count: number): SeededImage[] =>
  Array.from({ length: count }, (_, index) => {
    const { name, size } = photos[index % photos.length]!;
    const found = { ...okOutcome(['car', 'car', 'bus']), image: size } as ImageOutcome;
    return { path: name, outcome: index % 10 === 9 ? errorOutcome('invalid_image') : found };
  });

const at = (hash: string): string => `${service.url}/ui${hash}`;
const titles = () => page.locator('.job-link').allTextContents();
const row = (title: string) =>
  page.locator('.job-row', { has: page.getByRole('link', { name: title, exact: true }) });
const statusOf = async (jobId: string): Promise<JobStatus> =>
  (await fetch(`${service.url}/v1/jobs/${jobId}/status`)).json() as Promise<JobStatus>;

describe.skipIf(browserPath === null)('jobs that are found again', () => {
  const env = { LATTICE_RESULT_TTL_HOURS: '168' };
  const onOpened = (opened: OpenedPage) => ({ service, page } = opened);
  withPage(env, onOpened, async (data, imageRoot) => {
    photos = await copyPhotos(imageRoot, 10);
    const seed = (id: string, count: number, how: Parameters<typeof seedJob>[3]) =>
      seedJob(data, id, images(count), how);
    await seed('job_soon', 10, {
      ...{ typed: typed('2026/south/'), submittedAgo: 6.5 * DAY_S, modelName: 'vehicles-v8n.pt' },
    });
    await seed('job_cancelled', 40, {
      ...{ typed: typed('2026/gate-*.jpg'), cancelledAfter: 12, submittedAgo: 900 },
    });
    await seed('job_notStarted', 3, { typed: typed('2026/later/'), cancelledAfter: 0 });
    await seed('job_named', 20, {
      labels: { name: 'Zebra crossing', tags: ['gate', 'north'], keep: true },
      ...{ typed: typed('2026/east/', '2026/west/'), submittedAgo: 300 },
    });
    await seed('job_gone', 20, { typed: typed('2026/gate-1920x1278.jpg'), submittedAgo: 200 });
  });
  beforeEach(async () => {
    await page.setViewportSize({ width: 1280, height: 860 });
    await page.emulateMedia({ colorScheme: 'light' });
    await page.goto('about:blank');
  });

  test('a row says what was typed, what was found, by which model, and how long it stays', async () => {
    await page.goto(at('#/jobs'));
    const named = row('Zebra crossing');
    await named.waitFor();
    expect(await named.locator('.job-found').textContent()).toBe('car36bus18');
    expect(await named.locator('.job-name').textContent()).toMatch(
      /batch_detect · yolov8n\.pt from 25 %kept.*gate.*north/,
    );
    expect(await row('2026/south/').locator('.kept').textContent()).toMatch(/^until .*\d\d:\d\d$/);
    expect(await row('2026/gate-*.jpg').locator('.pill').textContent()).toBe('cancelled');
    expect(await row('2026/gate-*.jpg').locator('.job-bar').textContent()).toContain('12 / 40 images'); // prettier-ignore
  });

  test('jobs are searched by words, tag, model and order; all of it stands in the address', async () => {
    await page.goto(at('#/jobs'));
    await page.locator('.job-row').first().waitFor();
    await page.keyboard.press('/');
    await page.keyboard.type('gate');
    await eventual(titles).toEqual([
      '2026/gate-1920x1278.jpg',
      'Zebra crossing',
      '2026/gate-*.jpg',
    ]);
    expect(page.url()).toContain('q=gate');
    await row('Zebra crossing').getByRole('link', { name: 'north' }).click();
    await eventual(titles).toEqual(['Zebra crossing']);
    expect(page.url()).toMatch(/q=gate&tag=north|tag=north&q=gate/);
    await page.keyboard.press('j');
    await page.locator('.job-link:focus').waitFor();
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Zebra crossing' }).waitFor();
    await page.goBack();
    await eventual(titles).toEqual(['Zebra crossing']);
    await page.goBack();
    await eventual(titles).toHaveLength(3);
    expect(await page.getByLabel('Search jobs').inputValue()).toBe('gate');

    await page.goto(at('#/jobs'));
    await page.getByLabel('Model').selectOption('vehicles-v8n.pt');
    await eventual(titles).toEqual(['2026/south/']);
    await page.getByLabel('Model').selectOption('All models');
    await page.getByLabel('Order').selectOption('Title, Z to A');
    await eventual(async () => (await titles())[0]).toBe('Zebra crossing');
    expect(page.url()).toContain('sort=-name');
    await page.getByRole('link', { name: 'Failed or cancelled 2' }).click();
    await eventual(titles).toEqual(['2026/later/', '2026/gate-*.jpg']);
    expect(page.url()).toContain('sort=-name');
  });

  test('a search without jobs says what was searched, and is cleared', async () => {
    await page.goto(at('#/jobs?q=nowhere&tag=gate&state=completed'));
    await page.getByText('No completed job with “nowhere” with the tag gate').waitFor();
    await checkLooks(page, 'jobs-none');
    await page.getByRole('link', { name: 'Clear the search' }).click();
    await eventual(titles).toHaveLength(5);
    expect(await page.getByLabel('Search jobs').inputValue()).toBe('');
  });

  test('a job is named, tagged and annotated on its page', async () => {
    await page.goto(at('#/jobs/job_gone'));
    const rename = page.getByRole('button', { name: 'Change the name' });
    await rename.click();
    await page.keyboard.type('Not this');
    await page.keyboard.press('Escape');
    await page.locator('h1', { hasText: '2026/gate-1920x1278.jpg' }).waitFor();
    const hasFocus = () => rename.evaluate((button) => button === document.activeElement);
    await eventual(hasFocus).toBe(true);
    await page.keyboard.press('Enter');
    await page.locator('input[name=text]:focus').waitFor();
    await page.keyboard.type('Wednesday');
    await page.keyboard.press('Enter');
    await page.locator('h1', { hasText: 'Wednesday' }).waitFor();
    for (const tag of ['night', 'rain']) {
      await page.getByLabel('Add a tag').fill(tag);
      await page.keyboard.press('Enter');
      await page.getByRole('link', { name: tag }).waitFor();
    }
    await page.getByRole('button', { name: 'Remove the tag rain' }).click();
    await page.getByRole('link', { name: 'rain' }).waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Add notes' }).click();
    await page.locator('textarea[name=text]:focus').waitFor();
    await page.keyboard.type('Lens was wet.\nSecond line');
    await page.getByRole('button', { name: 'Save' }).click();
    const notes = () => page.locator('.notes p').allTextContents();
    await eventual(notes).toEqual(['Lens was wet.', 'Second line']);
    expect(await statusOf('job_gone')).toMatchObject({
      ...{ name: 'Wednesday', tags: ['night'], notes: 'Lens was wet.\nSecond line' },
    });
    await page.getByRole('link', { name: 'night' }).click();
    await eventual(titles).toEqual(['Wednesday']);
  });

  test('results that go soon are pointed out, and are kept', async () => {
    await page.goto(at('#/jobs/job_soon'));
    await page.getByText(/The results are removed in 1\d h \d+ min\. Kept until/).waitFor();
    await page.getByRole('button', { name: 'Keep', exact: true }).click();
    await checkLooks(page, 'job-soon');
    await page.getByRole('button', { name: '30 days from now' }).click();
    await page.getByText('The results are removed').waitFor({ state: 'detached' });
    expect((await statusOf('job_soon')).keep).toBe(30);
    await page.getByRole('button', { name: 'Keep', exact: true }).click();
    await page.getByRole('button', { name: 'Until it is deleted' }).click();
    await page.getByText('Kept until it is deleted').waitFor();
    await page.getByRole('button', { name: 'Keep', exact: true }).click();
    await page.getByRole('button', { name: 'No longer than usual' }).click();
    await page.getByText('The results are removed in').waitFor();
    expect((await statusOf('job_soon')).kept).toBe(false);
  });

  test('a job is deleted after a question that says what goes', async () => {
    await page.goto(at('#/jobs/job_gone'));
    const remove = page.getByRole('button', { name: 'Delete', exact: true });
    const asked = page.getByRole('dialog');
    await remove.click();
    await asked.getByText('The results of 20 images with 54 boxes are deleted').waitFor();
    await page.keyboard.press('Enter');
    await asked.waitFor({ state: 'detached' });
    expect((await statusOf('job_gone')).status).toBe('completed');
    await remove.click();
    await asked.getByRole('button', { name: 'Delete the job' }).click();
    await page.getByRole('heading', { name: 'Jobs' }).waitFor();
    expect((await fetch(`${service.url}/v1/jobs/job_gone/status`)).status).toBe(404);
    await eventual(titles).toHaveLength(4);
  });

  test('a job that was cancelled looks cancelled, and its figures agree', async () => {
    await page.goto(at('#/jobs/job_cancelled'));
    await page.getByText('Cancelled after 12 of 40 images; 28 were not run.').waitFor();
    expect(await page.locator('.job-title .pill').textContent()).toBe('cancelled');
    expect(await page.locator('.problem').count()).toBe(0);
    const actions = page.locator('.job-actions > button');
    const textsOf = async (buttons: typeof actions) =>
      (await buttons.allTextContents()).map((text) => text.trim());
    expect(await textsOf(actions)).toEqual([
      ...['Run again', 'Run the 28 remaining and 1 failed', 'Delete'],
    ]);
    const figures = page.locator('.outcome');
    await eventual(() => textsOf(figures)).toEqual([
      ...['All40', 'With boxes11', 'Failed1', 'Not run28'],
    ]);
    await page.getByRole('button', { name: /^Failed/ }).click();
    await page.getByText('1 image of 40 images').waitFor();
    await page.getByText('Image cannot be decoded').waitFor();
    await checkLooks(page, 'job-cancelled');
    await page.getByRole('button', { name: /^Not run/ }).click();
    await page.getByText('28 images of 40 images').waitFor();
    const tile = page.locator('.grid-tile .thumbnail').first();
    await eventual(() => tile.textContent()).toBe('not run');
    await tile.click();
    await page.getByText('This image was not run').waitFor();
    await page.goto(at('#/jobs/job_notStarted'));
    await page.getByText('Cancelled before the first of 3 images.').waitFor();
    expect(await actions.allTextContents()).toHaveLength(2);
    await page.goto(at('#/jobs/job_cancelled'));
    await page.getByRole('button', { name: 'Run the 28 remaining' }).click();
    await page.getByText('runs images of').waitFor();
    await page.getByText(/ of 29 images/).waitFor();
  });

  test('text that is copied keeps its letters: the font makes no sign of 640x480', async () => {
    await page.goto(at('#/jobs/job_named'));
    await page.locator('h1 .foreign').waitFor();
    const widths = await page.locator('h1 .foreign').evaluate((text) => {
      const widthOf = (letters: string): number => {
        text.textContent = letters;
        return text.getBoundingClientRect().width;
      };
      return { together: widthOf('8x8'), apart: widthOf('8') + widthOf('x') + widthOf('8') };
    });
    expect(widths.together).toBeCloseTo(widths.apart, 0);
  });

  test.each([
    ['#/jobs', '.job-rows'],
    ['#/jobs/job_named', '.job-body'],
    ['#/service', '.service'],
  ])('%s fills a wide screen', async (hash, content) => {
    await page.setViewportSize({ width: 2560, height: 1300 });
    await page.goto(at(hash));
    await page.locator(content).waitFor();
    expect((await page.locator(content).boundingBox())!.width).toBeGreaterThan(2_400);
  });
});
