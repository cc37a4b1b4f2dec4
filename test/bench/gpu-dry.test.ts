import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import sharp from 'sharp';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { allQuestions } from '../../bench/gpu/ask.js';
import { readRecord } from '../../bench/gpu/publication.js';
import { replaceSection } from '../../bench/figures-page.js';
import { section } from '../../bench/gpu/results-page.js';
import { writeRecord, type RunRecord } from '../../bench/gpu/run-record.js';
import { PROJECT_ROOT } from '../support/service-process.js';
import { runGpuBench, type Ended } from './gpu-bench-process.js';

const SECTION = /<!-- gpu figures -->[\s\S]*<!-- end of gpu figures -->/;
/** A minute on idle cores; `npm test` leaves it a fraction of one. */
const DRY_MS = 600_000;
const RESULTS = join(PROJECT_ROOT, 'bench/results');
const out = mkdtempSync(join(tmpdir(), 'lattice-gpu-dry-'));
afterAll(() => {
  rmSync(out, { recursive: true, force: true });
});

describe('a dry run', () => {
  const before = readdirSync(RESULTS);
  let ended: Ended;
  let record: RunRecord;
  beforeAll(async () => {
    ended = await runGpuBench(['--dry', '--out', out]);
    const file = readdirSync(out).find((each) => each.endsWith('.json')) ?? 'no JSON file';
    record = JSON.parse(readFileSync(join(out, file), 'utf8')) as RunRecord;
  }, DRY_MS);

  it('ends well, and says that no figure is a GPU figure', () => {
    expect(ended.code, ended.stdout + ended.stderr).toBe(0);
    expect(ended.stdout.match(/nothing here is a GPU figure/g)).toHaveLength(2);
    expect(record).toMatchObject({ dry: true, command: expect.stringContaining('--dry') });
    expect(record.measuredOn).toContain('nothing here is a GPU figure');
  });

  it('answers every question with finite figures', () => {
    expect(record.answers.map(({ question }) => question)).toEqual(allQuestions());
    expect(record.leftOut).toEqual([]);
    for (const { question, figures, seconds } of record.answers) {
      expect(figures.length, question).toBeGreaterThan(0);
      for (const { what, value, baseline, ratio } of figures) {
        for (const number of [value, baseline?.value ?? 0, ratio ?? 0, seconds]) {
          expect(number, `${question}: ${what}`).toSatisfy(Number.isFinite);
        }
        expect(value, `${question}: ${what}`).toBeGreaterThanOrEqual(0);
      }
    }
  });

  it('shows its goals and judges none', () => {
    const figures = record.answers.flatMap((answer) => answer.figures);
    expect(figures.filter(({ goal }) => goal !== null).length).toBeGreaterThanOrEqual(4);
    expect(figures.every(({ met }) => met === null)).toBe(true);
  });

  it('names what the engine does not report instead of giving it', () => {
    const shares = record.answers.find(({ question }) => question === 'shares')!;
    expect(shares.figures.some(({ what }) => what.endsWith('launch'))).toBe(false);
    expect(shares.notes.join()).toContain('The share of launch is not reported');
  });

  it('finds the same boxes each time, here too', () => {
    const { figures } = record.answers.find(({ question }) => question === 'sameness')!;
    expect(figures[0]).toMatchObject({ value: 0, goal: '<= 0.00' });
    expect(figures[2]).toMatchObject({ value: 100, goal: '>= 0.995' });
    expect(figures[3]).toMatchObject({ value: 0, goal: '<= 0.02' });
  });

  it('keeps machine, versions and photos beside the figures, and guesses no GPU facts', () => {
    expect(record.addon.version).toMatch(/^\d+\.\d+\.\d+/);
    expect(record.photos.map(({ name }) => name)).toEqual(['0.3 MP', '0.9 MP', '2 MP', '12 MP']);
    for (const { meanBytes } of record.photos) expect(meanBytes).toBeGreaterThan(1_000);
    expect(record.gpu).toHaveProperty('driver');
    expect(record.commit ?? '').toMatch(/^([0-9a-f]{7,}\+?)?$/);
    if (record.gpu.missing !== null) {
      const { names, driver, memoryMiB, smClockMHz } = record.gpu;
      expect({ names, driver, memoryMiB, smClockMHz }).toEqual({
        names: [],
        driver: null,
        memoryMiB: null,
        smClockMHz: null,
      });
    }
    expect(JSON.stringify(record)).not.toContain(out);
  });

  it('draws a well-formed chart for each, with every series on it', async () => {
    const charts = record.answers.flatMap((answer) => answer.charts);
    expect(charts).toHaveLength(allQuestions().length);
    for (const chart of charts) {
      const file = readdirSync(out).find((each) => each.endsWith(`-${chart.name}.svg`))!;
      const svg = readFileSync(join(out, file), 'utf8');
      // Throws on text that is no well-formed XML: chart.test.ts shows that.
      const { width } = await sharp(Buffer.from(svg))
        .png()
        .toBuffer({ resolveWithObject: true })
        .then(({ info }) => info);
      expect(width).toBe(760);
      for (const { name } of chart.series) expect(svg, file).toContain(`>${name}`);
      expect(svg).toContain('nothing here is a GPU figure');
    }
  });

  it('leaves bench/results alone', () => {
    expect(readdirSync(RESULTS)).toEqual(before);
    expect(() => readRecord(out)).toThrow('dry run');
  });

  it('would name the GPU in every published line of figures', async () => {
    const onGpu = { ...record, dry: false, measuredOn: 'Some GPU' };
    const folder = join(out, 'published');
    const charts = writeRecord(onGpu, folder);
    expect(readdirSync(folder)).toContain(`some-gpu-${record.date}.json`);
    expect(readRecord(folder)).toEqual(onGpu);

    const page = join(folder, 'README.md');
    cpSync(join(PROJECT_ROOT, 'bench/README.md'), page);
    const [before, after] = readFileSync(page, 'utf8').split(SECTION);
    for (let time = 0; time < 2; time += 1)
      await replaceSection(page, 'gpu figures', section(onGpu, charts, ''));
    const text = readFileSync(page, 'utf8');
    expect(text.split(SECTION)).toEqual([before, after]);

    const lines = (SECTION.exec(text)?.[0] ?? '').split('\n');
    const rows = lines.filter((line) => line.startsWith('|') && !/^\| (GPU |-+ )/.test(line));
    expect(rows).toHaveLength(record.answers.flatMap((answer) => answer.figures).length);
    for (const row of rows) expect(row).toMatch(/^\| Some GPU \| /);
    for (const { file } of charts) expect(text).toContain(`Some GPU](${file})`);
  });
});

describe('the GPU benchmark', () => {
  it('refuses in one sentence without a GPU and without --dry', async () => {
    const { code, stdout, stderr } = await runGpuBench([], { CUDA_VISIBLE_DEVICES: '' });
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toMatch(/^No GPU can be used here, so nothing was measured .*--dry.*\.\n$/);
    expect(stderr.match(/\.(\s|$)/g)).toHaveLength(1);
  });

  it('refuses to put dry figures among the results', async () => {
    const { code, stderr } = await runGpuBench(['--dry', '--out', RESULTS]);
    expect({ code, stderr }).toMatchObject({ code: 2, stderr: expect.stringContaining('--out') });
  });

  it(
    'goes on where it was cut off, and does not ask again what was answered',
    async () => {
      const folder = join(out, 'resumed');
      const args = ['--dry', '--resume', '--out', folder, 'sync-pixels'];
      const cutOff = await runGpuBench([...args, '--budget', '1']);
      expect(cutOff).toMatchObject({
        code: 3,
        stdout: expect.stringContaining('budget was spent'),
      });
      expect((await runGpuBench(args)).code).toBe(0);
      const again = await runGpuBench([...args, '--budget', '1']);
      expect(again).toMatchObject({ code: 0, stdout: expect.stringContaining('Answered before.') });

      // Git finds no checkout there, so the commit is the one that is named.
      const elsewhere = { GIT_DIR: join(out, 'none'), LATTICE_COMMIT: '0123abc' };
      const otherCommit = await runGpuBench([...args, '--budget', '1'], elsewhere);
      expect(otherCommit).toMatchObject({
        code: 3,
        stdout: expect.not.stringContaining('Answered before.'),
      });
    },
    DRY_MS,
  );
});
