/** Figures of the pages are those of the result files of the days that they name. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { figureRow } from '../../bench/figure-row.js';
import type { Measurement } from '../../bench/setting.js';
import type { Row } from '../../bench/tables.js';
import { PACKAGE_ROOT } from '../../src/base/package.js';

const read = (path: string) => readFileSync(join(PACKAGE_ROOT, path), 'utf8');

/** The generated part of a page, and the day that it names. */
function section(page: string): { text: string; date: string } {
  const [, text = ''] = /<!-- figures -->([\s\S]*)<!-- end of figures -->/.exec(read(page)) ?? [];
  const [, date = ''] = /Measured (\d{4}-\d\d-\d\d) by/.exec(text) ?? [];
  return { text, date };
}

/** All tables of a text, the cells by the names of their columns. */
function tableRows(text: string): Row[] {
  let columns: string[] | null = null;
  const rows: Row[] = [];
  for (const line of text.split('\n')) {
    const cells = line.trim().startsWith('|') ? line.split('|').slice(1, -1) : null;
    if (cells === null) columns = null;
    else if (columns === null) columns = cells.map((cell) => cell.trim());
    else if (!/^[\s|:-]+$/.test(line)) {
      const names = columns;
      rows.push(Object.fromEntries(cells.map((cell, at) => [names[at] ?? '', cell.trim()])));
    }
  }
  return rows;
}

const measurements = (file: string) =>
  (JSON.parse(read(file)) as { measurements: Measurement[] }).measurements;

test.each([
  { page: 'bench/README.md', prefix: '' },
  { page: 'docs/scale.md', prefix: 'scale-' },
])('$page', ({ page, prefix }) => {
  const { text, date } = section(page);
  const measured = measurements(`bench/results/${prefix}${date}.json`).map(figureRow);
  const shown = tableRows(text);
  expect(shown.length).toBeGreaterThan(5);
  for (const row of shown) {
    const [original] = measured.filter(({ what }) => what === row.what);
    expect(original, `${row.what}`).toMatchObject(row);
  }
});

interface PeersFile {
  sets: {
    name: string;
    standings: { name: string; latencyMs: number; perSecond: number; against: Against }[];
  }[];
}
type Against = Record<string, { latency: { median: number }; rate: { median: number } } | null>;

const peers = (date: string) => JSON.parse(read(`bench/results/peers-${date}.json`)) as PeersFile;

test('bench/peers/README.md', () => {
  const { text, date } = section('bench/peers/README.md');
  const standings = peers(date).sets.flatMap((set) => set.standings);
  const shown = tableRows(text).filter(({ server }) => server !== undefined);
  const figures = ({ server, ...row }: Row) =>
    [server, row['ms, 1 client'], row['req/s, 8 clients']?.replace(/ \(.*/, '')].join('; ');
  expect(shown.map(figures)).toEqual(
    standings.map(({ name, latencyMs, perSecond }) =>
      [name, latencyMs.toFixed(1), perSecond.toFixed(1)].join('; '),
    ),
  );
});

/** Servers of a row of README.md: the strongest of them is shown, for each figure its own. */
const COMPARED: Record<string, RegExp> = {
  'FastAPI + OpenVINO, the better of its two modes': /^FastAPI \+ OpenVINO, \w+ hint, square$/,
  "the same with inputs of the photos' shapes": /^FastAPI \+ OpenVINO, \w+ hint, rectangles$/,
  'the same with our copy in 8 bits': /^FastAPI \+ OpenVINO, our 8-bit copy/,
  'LitServe + ONNX Runtime': /^LitServe/,
  'Hono + sharp + onnxruntime-node': /^Hono \+ sharp/,
};

test('README.md: the service against peers', () => {
  const [small] = peers(section('bench/peers/README.md').date).sets;
  const shown = tableRows(read('README.md')).filter((row) => row['time, 1 client'] !== undefined);
  expect(shown.length).toBeGreaterThan(3);
  for (const row of shown) {
    const [name = ''] = Object.values(row);
    const ratios = (small?.standings ?? [])
      .filter((each) => COMPARED[name]?.test(each.name))
      .flatMap(({ against }) => against['lattice-core'] ?? []);
    const time = Math.max(...ratios.map(({ latency }) => latency.median));
    const rate = Math.min(...ratios.map(({ rate: { median } }) => median));
    expect(Object.values(row), name).toEqual([
      name,
      `${time.toFixed(2)} x`,
      `${rate.toFixed(1)} x`,
    ]);
  }
});

test('README.md: a call, a job and durable submits', () => {
  const text = read('README.md').replace(/\s+/g, ' ');
  const named = (pattern: RegExp) => pattern.exec(text)?.slice(1);
  const bench = measurements(`bench/results/${section('bench/README.md').date}.json`);
  const scale = measurements(`bench/results/scale-${section('docs/scale.md').date}.json`);
  const of = (what: string) => [...scale, ...bench].find((each) => each.what === what);
  const call = of('sync detect over HTTP, 1 client, p50');
  expect(named(/: (\d+) ms per synchronous call .* the decoder take (\d+);/)).toEqual([
    call?.value.toFixed(0),
    call?.baseline?.value.toFixed(0),
  ]);
  const job = of('async images, one job of 600');
  expect(named(/; (\d+) images per second in a job, which is ([\d.]+) of the engine/)).toEqual([
    job?.value.toFixed(0),
    job?.ratio?.toFixed(2),
  ]);
  const [submits = ''] = named(/([\d,]+) durable submissions per second/) ?? [];
  const measured = of('durable submits, 64 clients')?.value ?? NaN;
  expect(submits).toBe((100 * Math.floor(measured / 100)).toLocaleString('en'));
});
