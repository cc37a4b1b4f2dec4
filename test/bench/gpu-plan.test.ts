import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { readArguments } from '../../bench/gpu/arguments.js';
import type { GpuFacts } from '../../bench/gpu/gpu-facts.js';
import { makePlan } from '../../bench/gpu/make-plan.js';

const folder = mkdtempSync(join(tmpdir(), 'lattice-plan-'));
afterAll(() => {
  rmSync(folder, { recursive: true });
});

const planOf = async (...argv: string[]) =>
  makePlan(readArguments(argv), { names: ['Some GPU'], simulated: true } as GpuFacts, folder);

describe('--sizes', () => {
  it('measures a size without an export in its layout, though the run is quick', async () => {
    const { plan, notes } = await planOf('--quick', '--sizes', 's');
    expect(plan.models).toMatchObject([{ name: 'layout-v8s', size: 's', layoutOnly: true }]);
    expect(notes.join(' ')).toContain('arbitrary weights');
  });

  it('is told of where a quick run leaves layouts out', async () => {
    const { plan, notes } = await planOf('--quick');
    expect(plan.models.every(({ layoutOnly }) => layoutOnly !== true)).toBe(true);
    expect(notes.join(' ')).toContain('s, m, l, x (--sizes asks for them)');
  });

  it.each(['q', 'n,q', '', 'n,n'])('refuses "%s"', (sizes) => {
    expect(() => readArguments(['--sizes', sizes])).toThrow('give some of n,s,m,l,x');
  });
});
