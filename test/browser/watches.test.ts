/** Watched folders on the live page: made in the dialog, followed, paused and removed, against a real service. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { JobList, Watch, WatchList } from '../../src/client/records.js';
import { takeStill } from '../support/covered-camera.js';
import { eventual } from '../support/eventually.js';
import type { ServiceProcess } from '../support/service-process.js';
import {
  axeViolations,
  browserPath,
  screenshot,
  sidewaysScroll,
  withPage,
  openAnew,
  answerOf,
} from './browser.js';
import { checkLooks } from './looks.js';
import { copyPhotos } from './photos.js';

const folder = mkdtempSync(join(tmpdir(), 'lattice-watches-'));

describe.skipIf(browserPath === null)('watches in a browser', () => {
  let service: ServiceProcess;
  let page: Page;
  beforeAll(async () => {
    await copyPhotos(join(folder, 'north'), 2);
    writeFileSync(join(folder, 'north/photo.heic'), 'of a format that is not read');
  });
  withPage({ LATTICE_IMAGE_ROOTS: folder }, (opened) => ({ service, page } = opened));
  afterAll(() => {
    rmSync(folder, { recursive: true, force: true });
  });

  const open = async (hash: string) => {
    await openAnew(page, `${service.url}/ui${hash}`);
  };
  const answer = <T>(path: string) => answerOf<T>(service, path);
  const watches = async () => (await answer<WatchList>('/v1/watches')).watches;
  const row = (name: string) => page.locator('.watch-row', { hasText: name });
  const fact = (name: string, label: string) =>
    row(name).locator('.facts > div', { hasText: label }).locator('dd').textContent();

  test('a watch is made by keyboard in the dialog, and its state and files show', async () => {
    await open('#/service');
    await page.locator('.finding').waitFor();
    await page.keyboard.press('g');
    await page.keyboard.press('w');
    await page.getByText('No folder is watched').waitFor();
    expect(await page.title()).toBe('Watches · lattice-core');
    await page.keyboard.press('n');
    await page.getByLabel('Name of the watch').waitFor();
    expect(await axeViolations(page)).toEqual([]);
    await screenshot(page, 'new-watch-light');
    await page.keyboard.type('north-gate');
    await page.keyboard.press('Tab');
    await page.keyboard.type('north');
    await page.getByLabel('Look for').selectOption('batch_detect');
    await page.getByText('When it works, size of its jobs').click();
    await page.getByLabel(/^Seconds at rest/).fill('0.2');
    await page.getByText('Tags, how long its jobs are kept').click();
    await page.getByLabel(/^Tags/).fill('north, day');
    await page.getByLabel('Results are kept').selectOption('30');
    await page.getByRole('button', { name: 'Watch the folders' }).focus();
    await page.keyboard.press('Enter');
    await row('north-gate').locator('.pill.active').waitFor();
    await page.getByText('The watch north-gate is there.').waitFor();
    await page.locator('.watch-row:focus', { hasText: 'north-gate' }).waitFor();
    // The list comes anew by itself.
    await eventual(() => fact('north-gate', 'Files known')).toBe('2');
    await eventual(() => fact('north-gate', 'Waiting')).toBe('0');
    await eventual(() => fact('north-gate', 'Lag, median')).toMatch(/ s$/);
    expect(await fact('north-gate', 'Failed')).toBe('0');
    expect(await fact('north-gate', 'Not taken')).toBe('1 (.heic: 1)');
    expect(await fact('north-gate', 'Last scan')).toMatch(/just now|ago/);
    const [watch] = await watches();
    expect(watch).toMatchObject({
      ...{ name: 'north-gate', paths: ['north'], job_type: 'batch_detect' },
      ...{ settle_ms: 200, existing: 'take', paused: false, schedule: null },
      ...{ tags: ['north', 'day'], keep: 30 },
    } satisfies Partial<Watch>);
  });

  test('folders, times and batches are changed; what is no time is said', async () => {
    await open('#/watches');
    await page.getByRole('button', { name: 'Change north-gate' }).click();
    expect(await page.getByLabel(/^Folders or globs/).inputValue()).toBe('north');
    expect(await page.getByLabel(/^Seconds at rest/).inputValue()).toBe('0.2');
    expect(await axeViolations(page)).toEqual([]);
    await screenshot(page, 'change-watch-light');
    await page.getByLabel(/^Folders or globs/).fill('north\neast');
    await page.getByLabel(/^Most images/).fill('20');
    await page.getByLabel(/^Times of day/).fill('at night');
    await page.getByRole('button', { name: 'Change the watch' }).click();
    await page.getByRole('alert').getByText("'at night' is no time").waitFor();
    await page.getByLabel(/^Times of day/).fill('mon-sun@00:00-00:00');
    await page.getByRole('button', { name: 'Change the watch' }).click();
    await page.getByText('The watch north-gate is changed.').waitFor();
    const [watch] = await watches();
    expect(watch).toMatchObject({
      paths: ['north', 'east'],
      job_type: 'batch_detect',
      settle_ms: 200,
      batch: { max_images: 20, max_wait_s: 0 },
      tags: ['north', 'day'],
    });
    expect(watch?.schedule?.[0]?.days).toHaveLength(7);
    // It shows what is set now.
    await page.getByRole('button', { name: 'Change north-gate' }).click();
    expect(await page.getByLabel(/^Times of day/).inputValue()).toBe('mon-sun@00:00-00:00');
    await page.getByLabel(/^Folders or globs/).fill('north');
    await page.getByLabel(/^Times of day/).fill('');
    await page.getByRole('button', { name: 'Change the watch' }).click();
    await eventual(async () => (await watches())[0]?.schedule).toBeNull();
  });

  test('a name that is there already is refused in the dialog', async () => {
    await open('#/watches');
    await page.getByRole('button', { name: 'New watch' }).click();
    await page.getByLabel('Name of the watch').fill('north-gate');
    await page.getByLabel(/^Folders or globs/).fill('south');
    await page.getByRole('button', { name: 'Watch the folders' }).click();
    await page.getByRole('alert').getByText('watch_exists').waitFor();
    await page.keyboard.press('Escape');
    expect(await watches()).toHaveLength(1);
  });

  test('its jobs are under its link, a job names it, and the filter is a chip', async () => {
    const other = JSON.stringify({ job_type: 'batch_detect', image_paths: ['none.jpg'] });
    const headers = { 'content-type': 'application/json' };
    await fetch(`${service.url}/v1/jobs/submit`, { method: 'POST', headers, body: other });
    const all = (await answer<JobList>('/v1/jobs')).jobs.length;
    const own = (await answer<JobList>('/v1/jobs?watch=north-gate')).jobs.length;
    expect(own).toBeLessThan(all);
    await open('#/watches');
    await page.getByRole('link', { name: 'Jobs of north-gate' }).click();
    expect(page.url()).toContain('#/jobs?watch=north-gate');
    await eventual(() => page.locator('.job-row').count()).toBe(own);
    await page.locator('.job-link').first().click();
    await page.getByRole('link', { name: 'north-gate' }).click();
    await page.locator('.watch-row[aria-current=true]', { hasText: 'north-gate' }).waitFor();
    await page.goBack();
    await page.goBack();
    await page.getByRole('button', { name: /the watch north-gate/ }).click();
    await eventual(() => page.locator('.job-row').count()).toBe(all);
    await open('#/jobs?watch=nothing');
    await page.getByText('No job of the watch nothing').waitFor();
  });

  test('a watch whose folder is not there says so', async () => {
    await open('#/watches');
    await page.getByRole('button', { name: 'New watch' }).click();
    await page.getByLabel('Name of the watch').fill('south-gate');
    await page.getByLabel(/^Folders or globs/).fill('south');
    await page.getByLabel('Files that are there already').selectOption('leave');
    await page.getByRole('button', { name: 'Watch the folders' }).click();
    await row('south-gate').locator('.pill.away').waitFor();
    const watch = await answer<Watch>('/v1/watches/south-gate');
    expect(watch.existing).toBe('leave');
    expect(watch.reason).not.toBeNull();
    await row('south-gate').getByText(watch.reason!).waitFor();
  });

  test('no fault of axe, no sideways scroll', async () => {
    await open('#/watches');
    await row('north-gate').waitFor();
    await checkLooks(page, 'watches');
    for (const width of [320, 780]) {
      await page.setViewportSize({ width, height: 800 });
      expect(await axeViolations(page)).toEqual([]);
      expect(await sidewaysScroll(page), String(width)).toBeLessThanOrEqual(0);
    }
  });

  test('a watch is paused and goes on, and is removed after a question; its jobs stay', async () => {
    await open('#/watches');
    const pause = page.getByRole('button', { name: 'Pause north-gate' });
    await pause.focus();
    await page.keyboard.press('Enter');
    await row('north-gate').locator('.pill.paused').waitFor();
    expect((await answer<Watch>('/v1/watches/north-gate')).paused).toBe(true);
    // The focus stays on the button, which takes no press until the call is over.
    const isOver = page.getByRole('button', { name: 'Resume north-gate', disabled: false });
    await isOver.waitFor();
    await page.keyboard.press('Enter');
    await row('north-gate').locator('.pill.active').waitFor();
    const { jobs } = await answer<JobList>('/v1/jobs?watch=north-gate');
    await page.getByRole('button', { name: 'Remove north-gate' }).click();
    await page.getByText('Its jobs go on and stay').waitFor();
    await page.getByRole('button', { name: 'Leave it' }).click();
    expect(await row('north-gate').count()).toBe(1);
    await page.getByRole('button', { name: 'Remove north-gate' }).click();
    await page.getByRole('button', { name: 'Remove the watch' }).click();
    await page.getByText('The watch north-gate is removed. Its jobs stay.').waitFor();
    expect(await row('north-gate').count()).toBe(0);
    await page.locator('main:focus').waitFor();
    expect((await watches()).map(({ name }) => name)).toEqual(['south-gate']);
    expect((await answer<JobList>('/v1/jobs?watch=north-gate')).jobs).toHaveLength(jobs.length);
  });

  test('a camera that is covered is shown with its picture, silenced and dismissed', async () => {
    const watch = { name: 'lot', paths: ['lot'], job_type: 'detect_vehicles', settle_ms: 100 };
    const headers = { 'content-type': 'application/json' };
    const body = JSON.stringify({ ...watch, camera_health: true });
    await fetch(`${service.url}/v1/watches`, { method: 'POST', headers, body });
    mkdirSync(join(folder, 'lot'));
    for (let at = 0; at < 9; at += 1) await takeStill(join(folder, 'lot'), at, false);
    await open('#/watches');
    await row('lot').getByText('1 camera, nothing found').waitFor();
    for (let at = 9; at < 15; at += 1) await takeStill(join(folder, 'lot'), at, true);
    const finding = row('lot').locator('.camera-findings > li');
    await finding.getByText(/^Covered.*since 2025-11-26 14:27:00$/).waitFor();
    await eventual(() => finding.locator('img').count()).toBe(1);
    expect(await axeViolations(page)).toEqual([]);
    expect(await sidewaysScroll(page)).toBeLessThanOrEqual(0);
    await finding.getByRole('button', { name: 'Silence for a day: covered, lot' }).click();
    await finding.getByText('Silenced until').waitFor();
    await finding.getByRole('button', { name: /^Dismiss: covered, lot/ }).click();
    await row('lot').getByText('1 camera, nothing found').waitFor();
  });
});
