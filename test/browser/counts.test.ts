/** Counts over the jobs of a watch on the live page, against a real service over photos with times in their names. */
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import sharp from 'sharp';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { JobList, WatchCreate } from '../../src/client/records.js';
import { eventual } from '../support/eventually.js';
import { regionBetween } from '../support/region-between.js';
import { PROJECT_ROOT, type ServiceProcess } from '../support/service-process.js';
import {
  axeViolations,
  browserPath,
  sidewaysScroll,
  withPage,
  openAnew,
  answerOf,
} from './browser.js';
import { checkLooks } from './looks.js';

const folder = mkdtempSync(join(tmpdir(), 'lattice-counts-'));
const demo = (name: string) => join(PROJECT_ROOT, 'models/demo', name);

/** The photo, or none: a picture without vehicles. */
const PHOTOS: [time: string, photo: string | null][] = [
  ['2025-11-25T14-05-00', 'street.jpg'],
  ['2025-11-26T09-10-00', 'street.jpg'],
  ['2025-11-26T09-40-00', 'crossing.jpg'],
  ['2025-11-26T10-00-00', null],
  ['2025-11-26T14-30-00', 'crossing.jpg'],
];

async function copyDemo(): Promise<void> {
  mkdirSync(join(folder, 'north'), { recursive: true });
  const grey = { width: 320, height: 240, channels: 3, background: '#777' } as const;
  for (const [time, photo] of PHOTOS) {
    const to = join(folder, 'north', `${time}.jpg`);
    if (photo === null) await sharp({ create: grey }).jpeg().toFile(to);
    else copyFileSync(demo(photo), to);
  }
  mkdirSync(join(folder, 'lot'));
  for (const minute of ['00', '05', '10', '15', '20', '25']) {
    copyFileSync(demo('street.jpg'), join(folder, 'lot', `2025-11-26T15-${minute}-00.jpg`));
  }
}

interface Sum {
  images: number;
  detections: number;
  class_counts: Record<string, number>;
}

interface Answer {
  total: Sum;
  groups: (Sum & { group: string })[];
}

describe.skipIf(browserPath === null)('counts in a browser', () => {
  let service: ServiceProcess;
  let page: Page;
  beforeAll(copyDemo);
  withPage({ LATTICE_IMAGE_ROOTS: folder }, (opened) => ({ service, page } = opened));
  afterAll(() => {
    rmSync(folder, { recursive: true, force: true });
  });

  const open = async (hash: string) => {
    await openAnew(page, `${service.url}/ui${hash}`);
  };
  const answer = <T>(path: string) => answerOf<T>(service, path);
  const counts = (query = '') => answer<Answer>(`/v1/counts?watch=north${query}`);
  const boxes = (count: number) => `${count} box${count === 1 ? '' : 'es'}`;
  const number = (at = 0) => page.locator('.counts-number').nth(at).textContent();
  const field = (label: string) =>
    page
      .locator('.field', { has: page.locator('span', { hasText: new RegExp(`^${label}$`) }) })
      .locator('select, input');
  const download = async (name: string): Promise<string> => {
    const [file] = await Promise.all([
      page.waitForEvent('download'),
      page.locator('.counts-files').getByText(name, { exact: true }).click(),
    ]);
    return readFileSync(await file.path(), 'utf8');
  };
  const OWN = 'watch=north&range=own&from=2025-11-26&to=2025-11-27';
  const DAY = '&from=2025-11-26&to=2025-11-27';

  test('without a watch and a job with a tag it says what to do', async () => {
    await open('#/service');
    await page.locator('.finding').waitFor();
    await page.keyboard.press('g');
    await page.keyboard.press('c');
    await page.getByText('There is nothing to count yet').waitFor();
    expect(await page.title()).toBe('Counts · lattice-core');
    expect(await axeViolations(page)).toEqual([]);
    await page.getByRole('link', { name: 'Watch a folder' }).click();
    await page.getByText('No folder is watched').waitFor();
  });

  test('a watch leads to its counts; the range without images says where they are', async () => {
    const watch: WatchCreate = {
      ...{ name: 'north', paths: ['north'], job_type: 'batch_detect', settle_ms: 200 },
      tags: ['gate'],
    };
    const headers = { 'content-type': 'application/json' };
    const body = JSON.stringify(watch);
    await fetch(`${service.url}/v1/watches`, { method: 'POST', headers, body });
    await eventual(async () => (await counts()).total.images).toBe(PHOTOS.length);
    await open('#/watches');
    await page.getByRole('link', { name: 'Counts of north' }).click();
    await page.getByText('No images in this range').waitFor();
    await page.getByText('5 images in all, taken in 2025-11-25 to 2025-11-26.').waitFor();
    await page.getByRole('button', { name: 'Show all times' }).click();
    const { total } = await counts();
    await eventual(() => number()).toBe(boxes(total.detections));
    expect(page.url()).toContain('range=all');
  });

  test('events show their best picture, which leads to its image, and follow the gap', async () => {
    await open(`#/counts?${OWN}`);
    await page.getByRole('button', { name: 'Event', exact: true }).click();
    const { total, groups } = await counts(`${DAY}&by=event&event_gap_s=1800`);
    expect(groups).toHaveLength(2);
    const events = page.locator('.event-list > li');
    await eventual(() => events.count()).toBe(4);
    await field('Pictures are one event within').selectOption('1800');
    await eventual(() => events.count()).toBe(2);
    await eventual(() => number()).toBe(boxes(total.detections));
    await page.getByText('2 events of 4 images, 1 without boxes').waitFor();
    // The newest is first.
    expect(await events.nth(0).textContent()).toContain('2025-11-26 14:30:00');
    expect(await events.nth(1).textContent()).toContain('2025-11-26 09:10:00 to 10:00:00');
    expect(await events.nth(1).textContent()).toContain('3 images');
    await eventual(() => events.nth(0).locator('img').count()).toBe(1);
    expect(await axeViolations(page)).toEqual([]);
    expect(await sidewaysScroll(page)).toBeLessThanOrEqual(0);
    await page.reload();
    await eventual(() => events.count()).toBe(2);
    await events.nth(0).getByRole('link').click();
    await page.getByText('2025-11-26T14-30-00.jpg').first().waitFor();
    await page.goBack();
    await eventual(() => events.count()).toBe(2);
  });

  test('vehicles that stand are left out or counted alone, and the address keeps it', async () => {
    await open(`#/counts?${OWN}`);
    const all = await counts(DAY);
    await eventual(() => number()).toBe(boxes(all.total.detections));
    // The photos are hours apart: nothing stands in them.
    await field('Vehicles that stand').selectOption('only');
    await eventual(() => number()).toBe(boxes(0));
    expect(page.url()).toContain('static=only');
    await field('One camera').selectOption('all');
    await page.reload();
    await field('Vehicles that stand').selectOption('exclude');
    await eventual(() => number()).toBe(boxes(all.total.detections));
    expect(page.url()).toContain('camera=all');
    await field('Vehicles that stand').selectOption('include');
    await eventual(() => field('One camera').count()).toBe(0);
  });

  test('range, grouping and classes are chosen, are in the address, and outlive a reload', async () => {
    await open('#/counts');
    await field('Range').selectOption('own');
    await field('From').fill('2025-11-26T00:00');
    await field('To').fill('2025-11-27T00:00');
    const { total, groups } = await counts(DAY);
    await eventual(() => number()).toBe(boxes(total.detections));
    expect(groups).toHaveLength(3);
    // A day has 24 hours: 21 are without images in four runs, one has images without boxes.
    const plot = page.locator('.plot');
    expect(await plot.locator('.gap').count()).toBe(3);
    expect(await plot.locator('.none').count()).toBe(1);
    expect(await page.locator('.counts-table tbody tr').count()).toBe(3);
    expect(await page.locator('.plot-x').textContent()).toContain('06:00');
    await page.getByRole('button', { name: 'Day', exact: true }).click();
    await eventual(() => page.locator('.counts-table tbody tr').count()).toBe(1);
    const off = Object.keys(total.class_counts)[0]!;
    await page.locator('.chip', { hasText: off }).last().click();
    const left = total.detections - total.class_counts[off]!;
    await eventual(() => number()).toBe(boxes(left));
    await eventual(() => page.url()).toContain(`hide=${off}`);
    await page.reload();
    await eventual(() => number()).toBe(boxes(left));
    expect(await field('Range').inputValue()).toBe('own');
    for (const by of ['Folder', 'Class']) {
      await page.getByRole('button', { name: by, exact: true }).click();
      await page.locator('.bar-list li').first().waitFor();
      await page.locator('.counts-table th', { hasText: by }).waitFor();
    }
    await page.getByRole('button', { name: 'Region', exact: true }).click();
    await page.getByText('These images were asked for no regions.').waitFor();
  });

  test('another confidence asks the boxes again', async () => {
    await open(`#/counts?${OWN}`);
    await page.getByText('Another confidence than each job asked').click();
    await page.getByRole('slider').fill('90');
    const { total } = await counts(`${DAY}&confidence_threshold=0.9`);
    await eventual(() => number()).toBe(boxes(total.detections));
    await eventual(() => page.url()).toContain('min=90');
    await eventual(() => page.locator('.counts-files .code').textContent()).toContain(
      'confidence_threshold=0.9',
    );
    // The boxes that are kept begin at 5 %.
    await page.getByRole('slider').fill('2');
    await page
      .getByText('4 images whose boxes cannot answer this question: not counted.')
      .waitFor();
  });

  test('the time before stands beside it, on the same axis, with the difference', async () => {
    await open(`#/counts?${OWN}`);
    await field('Compare with').selectOption('before');
    const { total } = await counts(DAY);
    const before = (await counts('&from=2025-11-25&to=2025-11-26')).total;
    await eventual(() => number(1)).toBe(boxes(before.detections));
    const more = total.detections - before.detections;
    expect(await number(2)).toMatch(
      new RegExp(`^${more} more \\(\\+.*\\) than ${before.detections}$`),
    );
    const axes = await page.locator('.plot-y').allTextContents();
    expect(axes).toHaveLength(2);
    expect(axes[0]).toBe(axes[1]);
    expect(await page.locator('.counts-table tfoot').textContent()).toContain(`+${more}`);
  });

  test('the keyboard reads the bars', async () => {
    await open(`#/counts?${OWN}`);
    const chart = page.locator('.plot-scroll');
    await chart.focus();
    await page.keyboard.press('Home');
    const read = () => page.locator('.plot-read').textContent();
    await eventual(read).toBe('2025-11-26 00:00: no images');
    for (let hour = 0; hour < 10; hour++) await page.keyboard.press('ArrowRight');
    await eventual(read).toBe('2025-11-26 10:00: 0 boxes in 1 image');
  });

  test('the CSV file is that of the service; a class is made from the answer', async () => {
    await open(`#/counts?${OWN}`);
    const csv = await download('CSV');
    const own = await fetch(`${service.url}/v1/counts?watch=north${DAY}&by=hour&format=csv`);
    expect(csv).toBe(await own.text());
    await page.getByRole('button', { name: 'Class', exact: true }).click();
    await page.locator('.bar-list').waitFor();
    const { total } = await counts(DAY);
    const lines = Object.entries(total.class_counts).map((cells) => `${cells.join(',')}\r\n`);
    expect(await download('CSV')).toBe(`class,detections\r\n${lines.join('')}`);
  });

  test('a tag counts its jobs; one that no job has says so', async () => {
    const { jobs } = await answer<JobList>('/v1/jobs?tag=gate');
    expect(jobs.length).toBeGreaterThan(0);
    await open('#/counts?tag=gate&range=all');
    await eventual(() => number()).toBe(boxes((await counts()).total.detections));
    await open('#/counts?tag=nothing&range=all');
    await page.getByText('No images yet').waitFor();
    await open('#/counts?watch=nothing&range=all');
    await page.getByRole('alert').getByText('watch_not_found').waitFor();
  });

  test('places show what stands since when; one that is dismissed is left out of the counts until it is taken back', async () => {
    const headers = { 'content-type': 'application/json' };
    const regions = [regionBetween('whole lot', 0, 1)];
    const job = { job_type: 'detect_vehicles', image_paths: ['lot'], tags: ['lot'], regions };
    await fetch(`${service.url}/v1/jobs/submit`, {
      method: 'POST',
      headers,
      body: JSON.stringify(job),
    });
    const total = async () => (await answer<Answer>('/v1/counts?tag=lot')).total;
    await eventual(async () => (await total()).images).toBe(6);
    const all = (await total()).detections;
    await open('#/counts?tag=lot&range=all');
    await page.getByRole('button', { name: 'Place', exact: true }).click();
    const places = page.locator('.event-list > li');
    await eventual(() => places.count()).toBe(all / 6);
    expect(await places.nth(0).textContent()).toContain(
      'whole lot: 1 staySince 2025-11-26 15:00:00',
    );
    const [header, first] = (await download('CSV of the stays')).split('\r\n');
    expect(header).toMatch(/^camera,place,regions,/);
    expect(first).toMatch(/^lot,\d+,whole lot,/);
    expect(await places.nth(0).textContent()).toContain('in 6 of 6 images');
    await eventual(() => places.nth(0).locator('img').count()).toBe(1);
    expect(await axeViolations(page)).toEqual([]);
    expect(await sidewaysScroll(page)).toBeLessThanOrEqual(0);
    await places.nth(0).getByRole('button', { name: 'Dismiss' }).click();
    await eventual(() => number()).toBe(boxes(all - 6));
    expect((await total()).detections).toBe(all - 6);
    await page.getByRole('button', { name: 'Dismissed: count again' }).click();
    await eventual(() => number()).toBe(boxes(all));
    await places.nth(0).getByRole('link').click();
    await page.locator('.detected-picture, .picture').first().waitFor();
  });

  test('no fault of axe, no sideways scroll', async () => {
    await open(`#/counts?${OWN}&with=before`);
    await page.locator('.plot').nth(1).waitFor();
    await checkLooks(page, 'counts');
    for (const width of [320, 780]) {
      await page.setViewportSize({ width, height: 800 });
      expect(await axeViolations(page)).toEqual([]);
      expect(await sidewaysScroll(page), String(width)).toBeLessThanOrEqual(0);
    }
    for (const by of ['folder', 'class']) {
      await open(`#/counts?${OWN}&by=${by}&with=before`);
      await page.locator('.bar-list').waitFor();
      expect(await axeViolations(page)).toEqual([]);
      expect(await sidewaysScroll(page), by).toBeLessThanOrEqual(0);
    }
  });
});
