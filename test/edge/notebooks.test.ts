/** `detect.ipynb` against a running service with the bundled model; what is checked in is clean. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import sharp from 'sharp';
import { describe, expect, test } from 'vitest';
import { DEMO } from '../support/service-client.js';
import { PROJECT_ROOT, startService } from '../support/service-process.js';
import { edgePython } from '../../scripts/python-environment.mjs';
import { executeNotebook, notebookPath, readCells, type Executed } from './notebook.js';

const run = async (variables: Record<string, string> = {}): Promise<Executed> => {
  const python = await edgePython();
  await using service = await startService({
    env: { LATTICE_MODELS_DIR: join(PROJECT_ROOT, 'models'), LATTICE_IMAGE_ROOTS: DEMO },
  });
  return await executeNotebook('detect.ipynb', python, {
    LATTICE_CORE_API_URL: service.url,
    ...variables,
  });
};

/** Share of the pixels that differ clearly between two pictures of one size. */
async function difference(left: Buffer, right: Buffer): Promise<number> {
  const [one, other] = await Promise.all(
    [left, right].map((picture) => sharp(picture).removeAlpha().raw().toBuffer()),
  );
  let changed = 0;
  for (let at = 0; at < one!.length; at += 3) {
    if (Math.abs(one![at]! - other![at]!) > 40) changed += 1;
  }
  return changed / (one!.length / 3);
}

describe('detect.ipynb', () => {
  test.each([
    ['drawn by the service', {}],
    ['drawn from a local folder', { LATTICE_EDGE_IMAGES: DEMO }],
  ])('runs from top to bottom, boxes %s', async (_how, variables) => {
    const executed = await run(variables);
    console.log(`executed notebook: ${executed.path}`);
    for (const cell of executed.cells.filter((each) => each.cell_type === 'code')) {
      expect(cell.execution_count, cell.source.join('')).not.toBeNull();
      expect(cell.outputs?.map((output) => output.output_type)).not.toContain('error');
    }
    expect(executed.text).toMatch(/5 vehicles in \d+\.\d ms by local-/);
    expect(executed.text).toContain('8/8 images, completed');
    expect(executed.text).toContain("priority 5, metadata {'camera': 'north-gate'");
    expect(executed.text).toContain('HTTP 422, code image_not_found');

    const sizes = await Promise.all(executed.pictures.map((each) => sharp(each).metadata()));
    const photos = executed.pictures.filter((_, index) => sizes[index]?.width === 960);
    // The photo of the sync call and both photos of the job; the charts are of other sizes.
    expect(photos).toHaveLength(3);
    expect(executed.pictures).toHaveLength(3 + 4);
    for (const [index, name] of ['street.jpg', 'street.jpg', 'crossing.jpg'].entries()) {
      const changed = await difference(photos[index]!, readFileSync(join(DEMO, name)));
      expect(changed, `boxes in ${name}`).toBeGreaterThan(0.005);
      expect(changed, `${name} itself`).toBeLessThan(0.2);
    }
    for (const chart of executed.pictures.filter((each) => !photos.includes(each))) {
      const { channels } = await sharp(chart).removeAlpha().stats();
      expect(Math.max(...channels.map(({ stdev }) => stdev))).toBeGreaterThan(10);
    }
  });
});

test.each(['detect.ipynb', 'cluster.ipynb'])('%s is checked in without outputs', (name) => {
  for (const cell of readCells(notebookPath(name)).filter((each) => each.cell_type === 'code')) {
    expect(cell.execution_count).toBeNull();
    expect(cell.outputs).toEqual([]);
  }
});
