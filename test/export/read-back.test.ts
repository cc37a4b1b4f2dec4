/** Each export read by the tool it is for. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { parse } from 'yaml';
import { strFromU8, unzipSync } from 'fflate';
import { pythonEnvironment, runProgram } from '../../src/cli/python-environment.js';
import { EXPORT_FORMATS } from '../../src/export/formats.js';
import { PROJECT_ROOT } from '../support/service-process.js';
import { CLASSES, ENTRIES, exported, sourceOf } from './entries.js';

const TOOLS = {
  name: 'exports',
  what: 'the tools that read exports',
  files: ['test/export/requirements.txt'],
};

interface ReadBack {
  coco: Record<string, unknown>;
  tables: { columns: string[]; numbers: string[]; widths: number[] } & Record<string, unknown>;
  yolo: { labels: Record<string, number[][]> } & Record<string, unknown>;
}

let folder: string;
let read: ReadBack;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'lattice-exports-'));
  for (const format of EXPORT_FORMATS) {
    writeFileSync(join(folder, format), await exported(format, sourceOf(ENTRIES)));
  }
  const python = await pythonEnvironment(TOOLS, console.log);
  const script = join(PROJECT_ROOT, 'test/export/read_back.py');
  read = JSON.parse(await runProgram(python, ['-B', script, folder])) as ReadBack;
});

afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

test('pycocotools takes the dataset and finds the results to be right', () => {
  expect(read.coco).toEqual({
    images: ['2026/a, "b".jpg', '2026/empty.jpg', 'north/a, "b".jpg', '=straße 7.png'],
    categories: { 1: 'person', 2: 'car', 3: 'bus', 4: 'traffic light', 5: 'tram' },
    annotations: [1, 2, 3, 4],
    large: 3,
    average_precision: 1,
  });
});

test('pandas takes CSV and NDJSON', () => {
  const { columns, numbers, widths, ...others } = read.tables;
  expect(columns.join()).toBe(
    'x_min,y_min,x_max,y_max,class_id,confidence,tracker_id,class_name,image_height,image_path,image_width,job_id,model,regions,alternative,alternative_confidence,model_digest,precision,latitude,longitude',
  );
  expect(numbers).toEqual(
    columns.filter(
      (name) =>
        ![
          ...['class_name', 'image_path', 'job_id', 'model', 'regions', 'alternative'],
          ...['model_digest', 'precision'],
        ].includes(name),
    ),
  );
  expect(widths).toEqual([100, 640, 999.375, 2]);
  expect(others).toEqual({
    // The apostrophe keeps a spreadsheet from taking the name for a formula.
    paths: ['/2026/a, "b".jpg', '/2026/a, "b".jpg', 'north/a, "b".jpg', "'=straße 7.png"],
    classes: { car: 1, 'traffic light': 3, tram: 4, bus: 2 },
    images: ENTRIES.map(({ image_path }) => image_path),
    status: { ok: 4, error: 1 },
  });
});

test('the archive holds a YOLO dataset with a name of its own for each image', async () => {
  const { labels, ...others } = read.yolo;
  expect(others).toEqual({
    damaged: null,
    names: [
      ...['labels/a, _b_.txt', 'labels/empty.txt', 'labels/a, _b_-2.txt', 'labels/=straße 7.txt'],
      ...['images.csv', 'classes.txt', 'data.yaml', 'README.txt'],
    ],
    table: {
      'a, _b_.jpg': '/2026/a, "b".jpg',
      'empty.jpg': '2026/empty.jpg',
      'a, _b_-2.jpg': 'north/a, "b".jpg',
      // A program copies files by these names.
      '=straße 7.png': '=straße 7.png',
    },
    classes: [...CLASSES, 'tram'],
  });
  const [first, second] = labels['labels/a, _b_.txt']!;
  expect(first).toEqual([1, 0.094531, 0.251042, 0.15625, 0.417708]);
  expect(second).toEqual([3, 0.5, 0.5, 1, 1]);
  const archive = unzipSync(await exported('yolo', sourceOf(ENTRIES)));
  expect(parse(strFromU8(archive['data.yaml']!))).toEqual({
    train: 'images',
    val: 'images',
    nc: 5,
    names: [...CLASSES, 'tram'],
  });
  expect(strFromU8(archive['README.txt']!)).toMatch(/^Labels of 4 images.*1 failed/);
});

const percent = { type: 'number', minimum: 0, maximum: 100 };
/** Schema of pre-annotated tasks with boxes that Label Studio imports, after its documentation of predictions. */
const TASKS = {
  type: 'array',
  items: {
    type: 'object',
    required: ['data', 'predictions'],
    properties: {
      data: { type: 'object', required: ['image'], properties: { image: { type: 'string' } } },
      predictions: {
        type: 'array',
        minItems: 1,
        items: {
          type: 'object',
          required: ['model_version', 'result'],
          additionalProperties: false,
          properties: {
            model_version: { type: 'string' },
            score: { type: 'number', minimum: 0, maximum: 1 },
            result: {
              type: 'array',
              items: {
                type: 'object',
                required: ['id', 'type', 'from_name', 'to_name', 'original_width', 'value'],
                properties: {
                  id: { type: 'string' },
                  type: { const: 'rectanglelabels' },
                  from_name: { const: 'label' },
                  to_name: { const: 'image' },
                  original_width: { type: 'integer', minimum: 1 },
                  original_height: { type: 'integer', minimum: 1 },
                  image_rotation: { const: 0 },
                  score: { type: 'number' },
                  value: {
                    type: 'object',
                    required: ['x', 'y', 'width', 'height', 'rectanglelabels'],
                    additionalProperties: false,
                    properties: {
                      ...{ x: percent, y: percent, width: percent, height: percent },
                      rotation: { const: 0 },
                      rectanglelabels: {
                        type: 'array',
                        items: { type: 'string' },
                        minItems: 1,
                        maxItems: 1,
                      },
                    },
                  },
                },
              },
            },
          },
        },
      },
    },
  },
};

test("Label Studio's tasks follow its documentation", async () => {
  const tasks = JSON.parse((await exported('labelstudio', sourceOf(ENTRIES))).toString()) as {
    data: { image: string; lattice_key: string };
    predictions: { score?: number; result: { id: string }[] }[];
  }[];
  const validate = new Ajv2020({ allErrors: true }).compile(TASKS);
  expect(validate(tasks), JSON.stringify(validate.errors)).toBe(true);
  expect(tasks.map(({ data }) => data.image)).toEqual([
    '/data/local-files/?d=2026/a%2C%20%22b%22.jpg',
    '/data/local-files/?d=2026/empty.jpg',
    '/data/local-files/?d=north/a%2C%20%22b%22.jpg',
    '/data/local-files/?d=%3Dstra%C3%9Fe%207.png',
  ]);
  expect(new Set(tasks.map(({ data }) => data.lattice_key)).size).toBe(tasks.length);
  // The score of the least certain box; an image without boxes has none.
  expect(tasks.map(({ predictions }) => predictions[0]?.score)).toEqual([
    0.5,
    undefined,
    0.75,
    0.625,
  ]);
  expect(tasks[0]!.predictions[0]!.result.map(({ id }) => id)).toEqual(['box1', 'box2']);
});
