/** The detect view in a browser, against a real service with its own detector. */
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import sharp from 'sharp';
import { describe, expect, test } from 'vitest';
import type { DetectResponse } from '../../src/client/records.js';
import { browserPath, withPage, openAnew } from './browser.js';
import { eventual } from '../support/eventually.js';
import { DEMO } from '../support/service-client.js';
import {
  hasTestdata,
  PROJECT_ROOT,
  SHARED_TESTDATA,
  type ServiceProcess,
} from '../support/service-process.js';

const hasCurl = spawnSync('curl', ['--version']).status === 0;
if (!hasCurl) console.warn('Left out: there is no curl to run the one that the page gives.');

const DETECT = '**/v1/inference/detect';

describe.skipIf(browserPath === null)('detect', () => {
  let service: ServiceProcess;
  let page: Page;
  withPage(
    {
      LATTICE_IMAGE_ROOTS: hasTestdata ? `${DEMO}:${SHARED_TESTDATA}` : DEMO,
      LATTICE_PRECISION: 'f32', // the same scores on every CPU
      LATTICE_MODELS_DIR: join(PROJECT_ROOT, 'models/tiny'), // to compare with
    },
    (opened) => ({ service, page } = opened),
  );

  const open = async (hash: string) => {
    await openAnew(page, `${service.url}/ui#/detect${hash}`);
  };
  const found = () => page.locator('.found');
  /** `5 of 7 shown` -> [5, 7] */
  const figures = async () =>
    ((await found().textContent()) ?? '').match(/\d+/g)?.map(Number) ?? [];
  const rows = () => page.locator('.box-row > button');

  test('a first picture is one press away', async () => {
    await open('');
    await page.getByRole('button', { name: 'street.jpg' }).click();
    await found().waitFor();
    expect(await figures()).toEqual([5, expect.any(Number)]);
    await page.locator('.stage img').waitFor();
    await page.locator('.box-label', { hasText: 'truck 64 %' }).waitFor();
    expect(await page.evaluate(() => location.hash)).toBe('#/detect?path=street.jpg');
  });

  test('the picture and a bar are there while it is detected', async () => {
    let answer = (): void => undefined;
    const held = new Promise<void>((resolve) => (answer = resolve));
    await page.route(DETECT, async (route) => {
      await held;
      await route.continue();
    });
    await open('?path=street.jpg');
    await page.locator('.stage img').waitFor();
    await page.getByRole('progressbar', { name: 'Detecting' }).waitFor();
    const { width, height } = (await page.locator('.stage').boundingBox())!;
    await eventual(() => page.locator('.stage').boundingBox().then((box) => box!.width / box!.height)).toBeCloseTo(960 / 720, 2); // prettier-ignore
    expect(await found().count()).toBe(0);
    answer();
    await found().waitFor();
    expect(await page.getByRole('progressbar').count()).toBe(0);
    expect(width * height).toBeGreaterThan(0);
    await page.unroute(DETECT);
  });

  test.skipIf(!hasTestdata)(
    'a photo is found through folders and search, by keyboard alone',
    async () => {
      await open('');
      await page.getByRole('button', { name: 'crossing.jpg' }).waitFor();
      const focused = () => page.evaluate(() => document.activeElement?.textContent.trim() ?? '');
      const tabTo = async (name: string) => {
        for (let presses = 0; presses < 30; presses += 1) {
          await page.keyboard.press('Tab');
          if ((await focused()) === name) return;
        }
        throw new Error(`Tab does not reach ${name}.`);
      };
      await tabTo('Browse');
      await page.keyboard.press('Enter');
      await page.locator('.tile.folder').first().waitFor();
      await tabTo('coco128');
      for (let presses = 0; (await focused()) !== 'images' && presses < 9; presses += 1) {
        await page.keyboard.press('ArrowRight');
      }
      await page.keyboard.press('Enter');
      await page.getByRole('button', { name: 'bus.jpg', exact: true }).waitFor();
      await page.getByRole('searchbox').focus();
      await page.keyboard.type('TRAFFIC-640');
      await eventual(() => page.getByRole('dialog').locator('.tile').count()).toBe(1);
      await page.keyboard.press('Tab');
      await page.keyboard.press('Enter');
      await found().waitFor();
      const [shown, all] = await figures();
      expect(shown).toBeGreaterThan(10);
      expect(all).toBeGreaterThan(shown!);
      await rows().first().focus();
      await page.keyboard.press('ArrowDown');
      await page.keyboard.press('Enter');
      expect(await rows().nth(1).getAttribute('aria-pressed')).toBe('true');
      await page.keyboard.press('z');
      await eventual(() => page.locator('.stage.zoomed').count()).toBe(1);
      await page.keyboard.press('Escape');
      await page.keyboard.press('Escape');
      await eventual(() => page.locator('.stage.zoomed').count()).toBe(0);
    },
  );

  test('the slider and the classes filter without another request', async () => {
    let requests = 0;
    page.on('request', (request) => (requests += request.url().endsWith('/detect') ? 1 : 0));
    await open('?path=street.jpg');
    await found().waitFor();
    const [shown, all] = await figures();
    await page.getByRole('slider').fill('70');
    await eventual(figures).toEqual([3, all]);
    await page.getByRole('slider').fill('0');
    // Less than was asked for is not offered.
    await eventual(() => page.getByRole('slider').inputValue()).toBe('10');
    await eventual(figures).toEqual([all, all]);
    await page.getByRole('slider').fill('50');
    await page.getByRole('button', { name: 'car 4' }).click();
    await eventual(figures).toEqual([shown! - 4, all]);
    expect(await rows().allTextContents()).toEqual([expect.stringContaining('truck')]);
    await page.getByRole('slider').fill('99');
    await page.getByRole('button', { name: 'Show it' }).click();
    await eventual(async () => (await figures())[0]).toBe(1);
    expect(requests).toBe(1);
  });

  test('box and row are one: by pointer in both directions', async () => {
    await open('?path=street.jpg');
    await page.locator('.box-lines .box').first().waitFor();
    await rows().nth(1).hover();
    expect(await page.locator('.marked').count()).toBe(1);
    const box = (await page.locator('.marked .line').boundingBox())!;
    await page.mouse.move(box.x + box.width / 2, box.y + box.height * 0.7);
    await eventual(() => page.locator('.box-row.active').getAttribute('data-box')).toBe('1');
    await page.mouse.down();
    await page.mouse.up();
    await eventual(() => rows().nth(1).getAttribute('aria-pressed')).toBe('true');
    expect(await page.locator('.box-facts').textContent()).toContain('at 509, 378');
  });

  test('zoom keeps lines and labels, and the picture stays in its stage', async () => {
    await open('?path=street.jpg');
    await page.locator('.box-label').first().waitFor();
    const widthOf = () => page.locator('.box-lines .line').first().evaluate((line) => line.getBoundingClientRect().width); // prettier-ignore
    const before = await widthOf();
    await page.locator('.stage').focus();
    await page.keyboard.press('+');
    await page.keyboard.press('+');
    await eventual(widthOf).toBeGreaterThan(1.8 * before);
    const font = await page.locator('.box-label text').first().evaluate((text) => getComputedStyle(text).fontSize); // prettier-ignore
    expect(font).toBe('12px');
    await page.keyboard.press('0');
    await eventual(async () => Math.abs((await widthOf()) - before)).toBeLessThan(1);
  });

  test.each([
    'crossing.jpg',
    ...(hasTestdata
      ? ['images/alpr-car9-918x1632-portrait.jpg', 'images/traffic-640x640.jpg']
      : []),
  ])(
    // prettier-ignore
    '%s is never taller than the window',
    async (path) => {
      for (const [width, height] of [
        [1280, 720],
        [390, 844],
      ] as const) {
        // prettier-ignore
        await page.setViewportSize({ width, height });
        await open(`?path=${encodeURIComponent(path)}`);
        await found().waitFor();
        await page.locator('.stage img').waitFor();
        const stage = (await page.locator('.stage').boundingBox())!;
        expect(stage.y + stage.height, `${width}x${height}`).toBeLessThanOrEqual(height);
      }
    },
  );

  test('a picture that is dropped, pasted or opened is sent itself', async () => {
    await open('');
    const bytes = readFileSync(join(DEMO, 'street.jpg'), 'base64');
    const give = (kind: 'drop' | 'paste', name: string) =>
      page.evaluate(
        ([type, fileName, content]) => {
          const data = new DataTransfer();
          data.items.add(
            new File([Uint8Array.from(atob(content), (byte) => byte.charCodeAt(0))], fileName, {
              type: 'image/jpeg',
            }),
          );
          const init = { bubbles: true, cancelable: true };
          window.dispatchEvent(
            type === 'drop'
              ? new DragEvent('drop', { ...init, dataTransfer: data })
              : new ClipboardEvent('paste', { ...init, clipboardData: data }),
          );
        },
        [kind, name, bytes] as const,
      );
    const heading = page.locator('.panel h2');
    for (const kind of ['drop', 'paste'] as const) {
      const request = page.waitForRequest(DETECT);
      await give(kind, `${kind}.jpg`);
      expect((await request).headers()['content-type']).toContain('multipart/form-data');
      await eventual(() => heading.textContent()).toBe(`${kind}.jpg`);
    }
    await page.getByLabel('Pictures of this machine').setInputFiles(join(DEMO, 'crossing.jpg'));
    await eventual(() => heading.textContent()).toBe('crossing.jpg');
    await found().waitFor();
    expect(await page.evaluate(() => document.querySelector<HTMLImageElement>('.stage img')?.src)).toMatch(/^blob:/); // prettier-ignore
    expect((await figures())[0]).toBeGreaterThan(0);
  });

  test('a refusal says what to do, and does it', async () => {
    await open('?path=nowhere.jpg');
    const alert = page.getByRole('alert');
    await alert.waitFor();
    expect(await alert.textContent()).toContain('image_not_found');
    await alert.getByRole('button', { name: 'Choose a picture' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'street.jpg' }).click();
    await found().waitFor();
    expect(await alert.count()).toBe(0);
  });

  test.skipIf(!hasCurl)('the curl of the dialog answers what is shown', async () => {
    await open('?path=street.jpg&min=70');
    await found().waitFor();
    await page.getByRole('button', { name: 'As code' }).click();
    const code = (await page.locator('.code').textContent())!;
    const curl = spawnSync('sh', ['-c', code], { encoding: 'utf8' });
    const answer = JSON.parse(curl.stdout) as DetectResponse;
    expect(answer.detections).toHaveLength(3);
    expect((await figures())[0]).toBe(3);
    await page.getByRole('button', { name: 'Python' }).click();
    expect(await page.locator('.code').textContent()).toContain('confidence_threshold=0.7');
  });

  test('the address holds model, classes, threshold and switched-off classes; Back leads to the picture before', async () => {
    await open('?path=street.jpg');
    await found().waitFor();
    const [, all] = await figures();
    await page.getByRole('slider').fill('70');
    await page.getByRole('button', { name: /^truck/ }).click();
    await eventual(figures).toEqual([3, all]);
    const hash = () => page.evaluate(() => location.hash);
    await eventual(hash).toBe('#/detect?path=street.jpg&min=70&hide=truck');
    await page.getByRole('link', { name: 'Jobs' }).click();
    await page.getByRole('link', { name: 'Detect', exact: true }).click();
    await eventual(hash).toBe('#/detect?path=street.jpg&min=70&hide=truck');
    await eventual(figures).toEqual([3, all]);
    await page.getByRole('button', { name: 'crossing.jpg' }).click();
    await eventual(() => page.locator('.panel h2').textContent()).toBe('crossing.jpg');
    expect(await hash()).toBe('#/detect?path=crossing.jpg&min=70&hide=truck');
    const model = page.getByRole('combobox', { name: 'Model' });
    const other = (await model.locator('option').allTextContents()).at(-1)!;
    await model.selectOption(other);
    await eventual(() => page.locator('.panel-head .fine').textContent()).toContain(other);
    const copied = await hash();
    expect(copied).toContain(`model=${encodeURIComponent(other)}`);
    await page.goBack();
    await eventual(() => page.locator('.panel-head .fine').textContent()).not.toContain(other);
    await page.goBack();
    await eventual(() => page.locator('.panel h2').textContent()).toBe('street.jpg');
    await eventual(figures).toEqual([3, all]);
    await open(copied.replace('#/detect', ''));
    await found().waitFor();
    expect(await page.locator('.panel-head .fine').textContent()).toContain(other);
    expect(await page.getByRole('slider').inputValue()).toBe('70');
    expect(await hash()).toBe(copied);
  });

  test('tiles find more in the same picture, and are in the address and in the code', async () => {
    await open('?path=street.jpg');
    await found().waitFor();
    const [, before] = await figures();
    const answered = page.waitForResponse((each) => each.url().endsWith('/v1/inference/detect'));
    await page.getByRole('combobox', { name: 'Tiles' }).selectOption('2x2');
    expect(await (await answered).json()).toMatchObject({ tiles: { columns: 2, rows: 2 } });
    await eventual(async () => (await figures())[1]! > before!).toBe(true);
    const hash = await page.evaluate(() => location.hash);
    expect(hash).toBe('#/detect?path=street.jpg&tiles=2x2');
    await page.getByRole('button', { name: 'As code' }).click();
    const code = await page.getByRole('dialog').locator('pre').textContent();
    expect(code).toContain('"tiles":{"columns":2,"rows":2,"overlap":0.2}');
    await page.keyboard.press('Escape');
  });

  test('number, JSON, CSV, curl and picture are of what is shown', async () => {
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    await open('?path=street.jpg&min=60&hide=truck');
    await found().waitFor();
    await page.locator('.stage img').waitFor();
    const [shown] = await figures();
    expect(shown).toBe(await rows().count());
    await page.getByRole('button', { name: 'Copy answer as JSON' }).click();
    await page.getByText('Copied').waitFor();
    const json = await page.evaluate(() => navigator.clipboard.readText());
    const { detections } = JSON.parse(json) as DetectResponse;
    expect(detections).toHaveLength(shown!);
    const save = async (name: RegExp) => {
      const press = page.getByRole('button', { name }).click();
      const [download] = await Promise.all([page.waitForEvent('download'), press]);
      return { name: download.suggestedFilename(), bytes: readFileSync(await download.path()) };
    };
    const csv = await save(/as CSV/);
    expect(csv.name).toBe('street.csv');
    const lines = csv.bytes.toString().trimEnd().split('\r\n').slice(1);
    expect(lines.map((line) => line.split(',')[7])).toEqual(detections.map((box) => box.class));
    const raw = async (bytes: Buffer) => sharp(bytes).removeAlpha().raw().toBuffer();
    const pictures = [await save(/as PNG/), await save(/as JPEG/)];
    expect(pictures.map(({ name }) => name)).toEqual(['street-boxes.png', 'street-boxes.jpeg']);
    await page.getByRole('slider').fill('100');
    const none = await save(/as PNG/);
    expect((await raw(none.bytes)).equals(await raw(pictures[0]!.bytes))).toBe(false);
    await page.getByRole('slider').fill('60');
    await page.getByRole('button', { name: 'As code' }).click();
    const code = (await page.locator('.code').textContent())!;
    expect(code).toContain('"merge_classes":true');
    if (!hasCurl) return;
    const curl = spawnSync('sh', ['-c', code], { encoding: 'utf8' });
    const answer = JSON.parse(curl.stdout) as DetectResponse;
    expect(answer.detections.map((box) => box.class)).toEqual(detections.map((box) => box.class));
  });

  test('a picture is compared with another model: boxes are counted and marked', async () => {
    await open('?path=street.jpg');
    await found().waitFor();
    const before = (await figures())[0]!;
    const choice = page.getByRole('combobox', { name: 'Compare with' });
    await choice.selectOption('vehicles-v8n.pt');
    const changes = async () => (await page.locator('.changes li b').allTextContents()).map(Number);
    // The default model is the same one under another name.
    await eventual(changes).toEqual([0, 0, 0, before]);
    await choice.selectOption('tiny-v8.pt');
    await eventual(async () => {
      const [gained = 0, lost = 0, changed = 0] = await changes();
      return gained + lost + changed;
    }).toBeGreaterThan(0);
    const [gained = 0, lost = 0, changed = 0, same = 0] = await changes();
    expect(lost + changed + same).toBe(before);
    expect(await page.locator('.box-lines .lost').count()).toBe(lost);
    expect(await page.locator('.box-lines .gained').count()).toBe(gained);
    expect(page.url()).toContain('with=model%3Dtiny-v8.pt');
    await choice.selectOption('nothing');
    await eventual(() => page.locator('.changes').count()).toBe(0);
  });

  test('keys: help, threshold, classes', async () => {
    await open('?path=street.jpg');
    await found().waitFor();
    const [, all] = await figures();
    for (let presses = 0; presses < 4; presses += 1) await page.keyboard.press(']');
    await eventual(figures).toEqual([3, all]);
    await page.keyboard.press('1');
    await eventual(async () => (await figures())[0]).toBe(0);
    await page.keyboard.press('?');
    await page.getByRole('dialog', { name: 'Keys' }).waitFor();
    expect(await page.getByRole('dialog').textContent()).toContain('Higher threshold');
    await page.keyboard.press('Escape');
    await page.keyboard.press('g');
    await page.keyboard.press('s');
    await eventual(() => page.evaluate(() => location.hash)).toBe('#/service');
  });
});
