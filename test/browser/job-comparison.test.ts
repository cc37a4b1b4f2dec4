/** Two jobs compared on the live page, over real photos with the boxes that people drew. */
import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import type { ImageOutcome } from '../../src/store/job.js';
import { eventual } from '../support/eventually.js';
import { okOutcome } from '../support/outcomes.js';
import type { ServiceProcess } from '../support/service-process.js';
import { browserPath, withPage, type OpenedPage } from './browser.js';
import { checkLooks } from './looks.js';
import { copyPhotos, type Photo } from './photos.js';
import { seedJob } from './seeded-job.js';

const [FIRST, SECOND] = ['job_comparedFirst', 'job_comparedSecond'];
const PHOTOS = 10;

const found = ({ size }: Photo, detections: Photo['detections']): ImageOutcome =>
  ({ ...okOutcome([]), image: size, detections }) as ImageOutcome;

/** The first photo has changed most: its first box is lost, its second has another class, one is new. */
function changedOf(photo: Photo, index: number): Photo['detections'] {
  const [lost, other, ...rest] = photo.detections;
  if (index > 1 || lost === undefined) return photo.detections;
  if (index === 1 || other === undefined) return photo.detections.slice(1);
  const { width, height } = photo.size;
  const isNew = { class: 'bus', confidence: 0.66, box: [0, 0, width / 5, height / 9] as const };
  const name = other.class === 'motorcycle' ? 'truck' : 'motorcycle';
  return [{ ...other, class: name }, ...rest, { ...isNew, box: [...isNew.box] }];
}

let photos: Photo[];
let service: ServiceProcess;
let page: Page;

describe.skipIf(browserPath === null)('two jobs compared in a browser', () => {
  const onOpened = (opened: OpenedPage) => ({ service, page } = opened);
  withPage({}, onOpened, async (dataDir, imageRoot) => {
    photos = await copyPhotos(imageRoot, PHOTOS);
    const images = (detections: (photo: Photo, index: number) => Photo['detections']) =>
      photos.map((photo, index) => ({
        path: photo.name,
        outcome: found(photo, detections(photo, index)),
      }));
    await seedJob(
      dataDir,
      FIRST,
      images((photo) => photo.detections),
      { metadata: '{"title":"Whole"}' },
    );
    await seedJob(dataDir, SECOND, images(changedOf).toReversed(), {
      metadata: '{"title":"In tiles"}',
    });
  });

  test('the other job is chosen from the list; images with changes come with their boxes drawn', async () => {
    await page.setViewportSize({ width: 1280, height: 860 });
    await page.goto(`${service.url}/ui#/jobs/${FIRST}`);
    await page.getByRole('button', { name: 'Changes' }).click();
    const choice = page.getByRole('combobox', { name: 'Compare with another job' });
    const option = choice.locator('option', { hasText: 'In tiles' });
    await choice.selectOption(await option.getAttribute('value'));
    await page.locator('.changed-images .stage img').first().waitFor();
    expect(page.url()).toContain(`with=${SECOND}`);
    await page.getByText('2 images of 2 images with changes').waitFor();
    const first = page.locator('.changed-images > li').first();
    await first.getByText(photos[0]!.name).waitFor();
    const drawn = (change: string) => first.locator(`.box-lines .${change}`).count();
    expect([await drawn('gained'), await drawn('lost'), await drawn('changed')]).toEqual([1, 1, 1]);
    const counts = await first.locator('.changes b').allTextContents();
    expect(counts.slice(0, 3)).toEqual(['1', '1', '1']);
    await checkLooks(page, 'job-changes');
    await page.setViewportSize({ width: 1280, height: 1100 });
    if (process.env.CHANGES_PNG)
      await page.screenshot({ path: process.env.CHANGES_PNG, fullPage: true });
  });

  test('the agreement of both models opens a picture with its boxes, and another model runs from here', async () => {
    await page.goto(`${service.url}/ui#/jobs/${FIRST}?show=changes&with=${SECOND}`);
    await page.getByRole('button', { name: 'Agreement of the models' }).click();
    await page.getByText(`on ${PHOTOS} images`).waitFor();
    const tiles = page.locator('.agreement .tile');
    expect(await tiles.count()).toBe(2);
    expect(await tiles.first().textContent()).toContain('1 lost, 1 gained, 1 flipped');
    await checkLooks(page, 'job-agreement');
    await tiles.first().click();
    await page.locator('.agreed-picture .stage img').waitFor();
    // The boxes are placed once the picture has its size.
    for (const change of ['gained', 'lost', 'changed']) {
      await eventual(() => page.locator(`.agreed-picture .box-lines .${change}`).count()).toBe(1);
    }
    await page.keyboard.press('Escape');
    await page.getByLabel('Compare with another model').selectOption('vehicles-v8n.pt');
    await page.getByRole('button', { name: 'Run it' }).click();
    await page.getByText('vehicles-v8n.pt (second)').waitFor();
    await page.getByText(new RegExp(`on ${PHOTOS} images\\.$`)).waitFor();
    expect(page.url()).not.toContain(SECOND);
  });
});
