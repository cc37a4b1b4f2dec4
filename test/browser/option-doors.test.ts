/**
 * Every option of a detection on the page, from the same table as the other doors: what is asked for, and what is
 * shown.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { LatticeClient } from '../../src/client/lattice-client.js';
import type { DetectResponse } from '../../src/client/records.js';
import { OPTIONS, REGIONS, type Asked } from '../support/asked-options.js';
import { eventual } from '../support/eventually.js';
import type { ServiceProcess } from '../support/service-process.js';
import { writeTwoPhotos } from '../support/two-photos.js';
import { browserPath, withPage, openAnew } from './browser.js';

const NAME = 'two.png';
/** Threshold that the page asks for, and the lowest that it shows. */
const LOW = 0.1;
const folder = mkdtempSync(join(tmpdir(), 'lattice-page-'));

/** Regions are drawn (regions.test.ts); the confidence is the slider. */
const written = OPTIONS.filter(
  ({ json }) => !('regions' in json) && !('confidence_threshold' in json),
);
const named = written.map((each) => [JSON.stringify(each.json), each] as const);

describe.skipIf(browserPath === null)('every option on the page', () => {
  let service: ServiceProcess;
  let page: Page;
  let client: LatticeClient;
  beforeAll(() => writeTwoPhotos(join(folder, NAME)));
  const env = {
    LATTICE_IMAGE_ROOTS: folder,
    LATTICE_PRECISION: 'f32',
    LATTICE_SYNC_DEADLINE_MS: '60000',
  };
  withPage(env, (opened) => {
    ({ service, page } = opened);
    client = new LatticeClient({ url: service.url });
  });
  beforeAll(async () => {
    await client.putView('north', { regions: REGIONS });
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
  });
  afterAll(() => {
    rmSync(folder, { recursive: true, force: true });
  });

  const open = async (hash: string) => {
    await openAnew(page, `${service.url}/ui#/${hash}`);
  };
  const shownJson = async () => {
    await page.getByRole('button', { name: 'Copy answer as JSON' }).click();
    await page.getByText('Copied').waitFor();
    return JSON.parse(await page.evaluate(() => navigator.clipboard.readText())) as DetectResponse;
  };
  const write = async ({ texts }: Asked) => {
    for (const [name, text] of texts) {
      const field = page.locator(`[name=${name}]:visible`);
      const isChoice = await field.evaluate((each) => each.tagName === 'SELECT');
      const choice = text === '0' ? 'false' : text;
      if (isChoice) await field.selectOption(choice);
      else {
        await field.fill(text);
        await field.press('Tab');
      }
    }
  };

  test.each(named)('%s, of the address, is asked for and shown', async (_, { json, texts }) => {
    const given = texts.map(([name, text]) => [name, name === 'merge_classes' ? String(json.merge_classes) : text]); // prettier-ignore
    const query = new URLSearchParams([['path', NAME], ['min', '10'], ...given] as [string, string][]); // prettier-ignore
    const asked = page.waitForRequest('**/v1/inference/detect');
    await open(`detect?${query.toString()}`);
    const body = (await asked).postDataJSON() as object;
    // The default overlap of tiles is written out.
    const tiles = 'columns' in Object(json.tiles) ? { tiles: { overlap: 0.2, ...Object(json.tiles) } } : {}; // prettier-ignore
    expect(body).toEqual({ image_path: NAME, confidence_threshold: LOW, ...json, ...tiles });
    await page.locator('.found').waitFor();
    const wanted = await client.detect({ image_path: NAME, confidence_threshold: LOW, ...json });
    const shown = await shownJson();
    expect(shown.detections).toEqual(wanted.detections);
    expect(shown.region_counts).toEqual(wanted.region_counts);
    expect(await page.locator('.found').textContent()).toContain(String(wanted.total_count));
    await page.getByRole('button', { name: 'As code' }).click();
    const code = (await page.getByRole('dialog').locator('pre').textContent())!;
    for (const name of Object.keys(json)) expect(code).toContain(`"${name}":`);
    await page.keyboard.press('Escape');
  });

  const fields = written.filter(({ json }) => !('tiles' in json) && !('view' in json));
  test.each(fields.map((each) => [JSON.stringify(each.json), each] as const))(
    '%s, written into its field, is in the address',
    async (_, each) => {
      await open(`detect?path=${NAME}`);
      await page.locator('.found').waitFor();
      await page.getByText('More options').click();
      await write(each);
      const last = Object.keys(each.json).at(-1)!;
      await eventual(() => page.evaluate(() => location.hash)).toContain(`${last}=`);
      expect(await page.locator('.more-options summary').textContent()).toContain(
        `${Object.keys(each.json).length} set`,
      );
    },
  );

  const grids = new Set(['{"columns":3,"rows":2}', '{"size":640,"overlap":0.3}']);
  const offered = written.filter(({ json }) => !grids.has(JSON.stringify(json.tiles)));
  test('the form of a job sends all of them together', async () => {
    await open('jobs');
    await page.getByRole('button', { name: 'New job' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.locator('[name=paths]').fill(NAME);
    await dialog.getByText('Tiles, sizes, thresholds by class').click();
    for (const each of offered.filter(({ json }) => !('view' in json))) await write(each);
    await dialog.locator('[name=view]').selectOption('north');
    const asked = page.waitForRequest('**/v1/jobs/submit');
    await dialog.getByRole('button', { name: 'Submit the job' }).click();
    const all = Object.assign({}, ...offered.map(({ json }) => json)) as object;
    expect((await asked).postDataJSON()).toMatchObject(all);
  });
});
