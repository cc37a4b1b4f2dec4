/** Aliases of models on the live page: made with a shadow, judged by its agreement, promoted and taken back. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { AliasList } from '../../src/client/records.js';
import { eventual, eventually } from '../support/eventually.js';
import { OWN_CLASSES, ownModel } from '../support/own-model.js';
import { call, detect } from '../support/service-client.js';
import type { ServiceProcess } from '../support/service-process.js';
import { axeViolations, browserPath, withPage } from './browser.js';
import { checkLooks } from './looks.js';

const models = mkdtempSync(join(tmpdir(), 'lattice-alias-models-'));

describe.skipIf(browserPath === null)('aliases in a browser', () => {
  let service: ServiceProcess;
  let page: Page;
  beforeAll(() => {
    mkdirSync(models, { recursive: true });
    writeFileSync(join(models, 'first.onnx'), ownModel(OWN_CLASSES));
    writeFileSync(join(models, 'other.onnx'), ownModel(['auto', 'moto', 'coach', 'truck']));
  });
  withPage(
    { LATTICE_MODELS_DIR: models, LATTICE_PRECISION: 'f32' },
    (opened) => ({ service, page } = opened),
  );
  afterAll(() => {
    rmSync(models, { recursive: true, force: true });
  });

  const row = () => page.locator('.alias-row', { hasText: 'depot.pt' });
  const fact = (label: string) =>
    row().locator('.facts > div', { hasText: label }).locator('dd').first().textContent();
  const confirmed = async (action: string, confirm: string, said: string) => {
    await page.getByRole('button', { name: `${action} depot.pt` }).click();
    await page.getByRole('dialog').getByText(said).waitFor();
    await page.getByRole('button', { name: confirm, exact: true }).click();
  };

  test('an alias is made with a shadow in the dialog; its agreement comes by itself, with pictures drawn', async () => {
    await page.goto(`${service.url}/ui#/service`);
    await page.getByRole('button', { name: 'New alias' }).click();
    await page.getByLabel(/^Name of the alias/).fill('depot');
    await page.getByLabel('Model that answers').selectOption('first.pt');
    await page.getByLabel(/^Shadow/).selectOption('other.pt');
    expect(await axeViolations(page)).toEqual([]);
    await page.getByRole('button', { name: 'Make the alias' }).click();
    await row().waitFor();
    expect(await fact('Shadow')).toBe('other.pt');
    await row().locator('summary').click();
    await page.getByText('No picture is compared yet').waitFor();
    await eventually(async () => {
      await detect(service.url, { model_name: 'depot', image_path: 'shapes.png', classes: ['*'] });
      expect(
        await row()
          .getByText(/^Flagged/)
          .count(),
      ).toBe(1);
    });
    expect(await fact('Boxes that agree')).toBe('0 %');
    await checkLooks(page, 'alias-agreement');
    await row().locator('.tile').first().click();
    await page.locator('.agreed-picture .stage img').waitFor();
    // The boxes are placed once the picture has its size.
    await page.locator('.agreed-picture .box-lines .changed').first().waitFor();
    await checkLooks(page, 'alias-picture');
    await page.keyboard.press('Escape');
  });

  test('the shadow is promoted, the promotion taken back, and a canary that lacks classes refused', async () => {
    await confirmed('Promote', 'Promote it', 'answers all requests that name depot.pt');
    await eventual(() => fact('Model')).toBe('other.pt');
    const before = 'in version 1: first.pt answers; other.pt is its shadow.';
    await confirmed('Roll back', 'Roll it back', before);
    await eventual(() => fact('Model')).toBe('first.pt');
    await page.getByText('depot.pt, version 3: first.pt answers').waitFor();
    await page.getByRole('button', { name: 'Change depot.pt' }).click();
    await page.getByLabel(/^Canary/).selectOption('other.pt');
    await page.getByRole('button', { name: 'Change the alias' }).click();
    await page.getByRole('alert').getByText('lacks classes').waitFor();
    await page.keyboard.press('Escape');
  });

  test('it is deleted after a question', async () => {
    await confirmed('Delete', 'Delete the alias', 'are refused from then on');
    await page.getByText('The alias is deleted.').waitFor();
    const { aliases } = (await call(service.url, '/v1/models/aliases'))
      .body as unknown as AliasList;
    expect(aliases).toEqual([]);
  });
});
