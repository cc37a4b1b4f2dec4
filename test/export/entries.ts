/** Entries as every format gets them, and a source of them in pages. */
import {
  relativeName,
  type ExportedImage,
  type ExportSource,
} from '../../src/export/export-source.js';
import { FORMATS, type ExportFormat } from '../../src/export/formats.js';

export const CLASSES = ['person', 'car', 'bus', 'traffic light'];

const size = { width: 640, height: 480 };

/** Names that are hard for some reader, an image without boxes, a failed one and a class that the model lacks. */
export const ENTRIES: ExportedImage[] = [
  {
    image_path: '/2026/a, "b".jpg',
    status: 'ok',
    image: size,
    model_digest: '3f1c0a5b9d2e7788',
    precision: 'f32',
    car_count: 1,
    class_counts: { car: 1, 'traffic light': 1 },
    latitude: -33.856784,
    longitude: 151.215297,
    taken_at: '2026-11-26T14:30:00',
    detections: [
      {
        box: [10.5, 20.25, 110.5, 220.75],
        confidence: 0.953125,
        class: 'car',
        alternative: { class: 'bus', confidence: 0.375 },
        regions: ['gate', 'exit, "B"'],
      },
      { box: [0, 0, 640, 480], confidence: 0.5, class: 'traffic light' },
    ],
  },
  { image_path: 'broken.jpg', status: 'error', error: { detail: 'It is damaged.' } },
  { image_path: '2026/empty.jpg', status: 'ok', image: size, detections: [] },
  {
    image_path: 'north/a, "b".jpg',
    status: 'ok',
    image: { width: 1001, height: 333 },
    detections: [{ box: [1.125, 2.25, 1000.5, 332.875], confidence: 0.75, class: 'tram' }],
  },
  {
    image_path: '=straße 7.png',
    status: 'ok',
    image: size,
    detections: [{ box: [5, 6, 7, 8], confidence: 0.625, class: 'bus' }],
  },
];

export function sourceOf(
  entries: readonly ExportedImage[],
  changes: Partial<ExportSource> & { pageSize?: number } = {},
): ExportSource {
  const { pageSize = 2, ...others } = changes;
  return {
    jobId: 'job_1',
    model: 'own.pt',
    classes: CLASSES,
    fileName: relativeName,
    pages: async function* () {
      for (let from = 0; from < entries.length; from += pageSize) {
        yield await Promise.resolve(entries.slice(from, from + pageSize));
      }
    },
    ...others,
  };
}

export async function exported(format: ExportFormat, source: ExportSource): Promise<Buffer> {
  const pieces: Buffer[] = [];
  for await (const piece of FORMATS[format].write(source)) pieces.push(Buffer.from(piece));
  return Buffer.concat(pieces);
}
