/** The report of a job, as it is opened by people: from the page, and as a file that was mailed. */
import { readFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { okOutcome } from '../support/outcomes.js';
import type { ServiceProcess } from '../support/service-process.js';
import { axeViolations, browserPath, openAnew, sidewaysScroll, withPage } from './browser.js';
import { copyPhotos } from './photos.js';
import { seedJob } from './seeded-job.js';

const JOB = 'job_browserTestOfReport';

describe.skipIf(browserPath === null)('the report of a job in a browser', () => {
  let service: ServiceProcess;
  let page: Page;
  withPage(
    {},
    (opened) => ({ service, page } = opened),
    async (dataDir, imageRoot) => {
      const photos = await copyPhotos(imageRoot, 12);
      const images = photos.map(({ name, size, detections }) => ({
        path: name,
        outcome: { ...okOutcome([]), image: size, detections } as ReturnType<typeof okOutcome>,
      }));
      await seedJob(dataDir, JOB, images, { metadata: '{"title":"North gate"}' });
    },
  );

  test('it is downloaded from the page of its job, and opens from the disk without a request', async () => {
    await openAnew(page, `${service.url}/ui#/jobs/${JOB}`);
    const downloading = page.waitForEvent('download');
    await page.getByText('Report', { exact: true }).click();
    const download = await downloading;
    expect(download.suggestedFilename()).toBe(`${JOB}.report.html`);
    const file = await download.path();
    expect(readFileSync(file).length).toBeLessThan(5_000_000);
    const html = `${file}.html`;
    await download.saveAs(html);
    const requests: string[] = [];
    page.on('request', (request) => requests.push(request.url()));
    for (const [width, colorScheme] of [[1280, 'light'], [1280, 'dark'], [390, 'light'], [390, 'dark']] as const) {
      await page.setViewportSize({ width, height: 844 });
      await page.emulateMedia({ colorScheme });
      await page.goto(pathToFileURL(html).href);
      await page.getByRole('heading', { name: 'North gate' }).waitFor();
      expect(await page.locator('figure img').count()).toBeGreaterThan(3);
      expect(await sidewaysScroll(page)).toBeLessThanOrEqual(0);
      expect(await axeViolations(page)).toEqual([]);
    }
    expect(requests.filter((url) => !/^(?:file|data):/.test(url))).toEqual([]);
  }); // prettier-ignore
});
