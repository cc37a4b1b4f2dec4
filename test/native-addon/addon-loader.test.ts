import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { AddonLoadError, loadAddon } from '../../src/native/addon-loader.js';

const folder = mkdtempSync(join(tmpdir(), 'lattice-loader-'));
afterAll(() => {
  rmSync(folder, { recursive: true });
});

describe('loadAddon', () => {
  it('loads once', () => {
    expect(loadAddon()).toBe(loadAddon());
  });

  it('explains what is missing or damaged, and how to mend it', () => {
    const damaged = join(folder, 'damaged.node');
    writeFileSync(damaged, 'no library');
    expect(() => loadAddon(join(folder, 'none.node'))).toThrow(
      new AddonLoadError('The addon is not built. Run `npm run setup`.'),
    );
    expect(() => loadAddon(damaged)).toThrow(
      /damaged or was built for another machine.*npm run setup/,
    );
  });
});
