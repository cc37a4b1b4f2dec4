/** The boxes of one picture in each export format: as an answer has them, and as they are read from the file. */
import { strFromU8, unzipSync } from 'fflate';
import type { ExportFormat } from '../../src/export/formats.js';
import type { ImageFields } from '../../src/client/records.js';
import { parquetRows } from './parquet-rows.js';

type Detection = ImageFields['detections'][number];

interface Shown {
  shows: (picture: Pick<ImageFields, 'detections' | 'image' | 'latitude' | 'longitude'>) => unknown;
  read: (file: Buffer) => unknown;
}

const short = (value: number, decimals = 6) => Number(value.toFixed(decimals));
const otherOf = ({ alternative }: Detection) =>
  alternative && { class: alternative.class, score: short(alternative.confidence) };
const sidesOf = ({ box: [x1, y1, x2, y2] }: Detection) =>
  [x1, y1, x2 - x1, y2 - y1].map((side) => short(side, 3));
const json = (file: Buffer) => JSON.parse(file.toString()) as unknown;

/** Cells of a line of CSV. */
function cellsOf(line: string): string[] {
  const cells = [...line.matchAll(/("(?:[^"]|"")*"|[^,]*)(?:,|$)/g)].map(([, text = '']) => text);
  return cells.map((text) => text.replace(/^"(.*)"$/s, '$1').replaceAll('""', '"'));
}

const coco: Shown = {
  shows: ({ detections }) =>
    detections.map((each) => ({
      class: each.class,
      bbox: sidesOf(each),
      score: short(each.confidence),
      alternative: otherOf(each),
      regions: each.regions,
    })),
  read: (file) => {
    const { annotations, categories } = json(file) as {
      annotations: ({ category_id: number } & Record<string, unknown>)[];
      categories: { id: number; name: string }[];
    };
    const names = new Map(categories.map(({ id, name }) => [id, name]));
    return annotations.map(({ category_id, bbox, score, alternative, regions }) => ({
      class: names.get(category_id),
      bbox,
      score,
      alternative,
      regions,
    }));
  },
};

const cocoResults: Shown = {
  shows: ({ detections }) =>
    detections.map((each) => ({ bbox: sidesOf(each), score: short(each.confidence) })),
  read: (file) =>
    (json(file) as Record<string, unknown>[]).map(({ bbox, score }) => ({ bbox, score })),
};

const csv: Shown = {
  shows: ({ detections }) =>
    detections.map((each) => ({
      box: each.box.map((side) => short(side, 3)),
      class: each.class,
      score: short(each.confidence),
      alternative: otherOf(each),
      regions: (each.regions ?? []).join(';'),
    })),
  read: (file) => {
    const [header = '', ...lines] = file.toString().trimEnd().split('\r\n');
    const names = header.split(',');
    return lines.map((line) => {
      const cells = new Map(cellsOf(line).map((text, at) => [names[at], text]));
      const number = (name: string) => Number(cells.get(name));
      const other = cells.get('alternative');
      return {
        box: ['x_min', 'y_min', 'x_max', 'y_max'].map(number),
        class: cells.get('class_name'),
        score: number('confidence'),
        alternative:
          other === '' ? undefined : { class: other, score: number('alternative_confidence') },
        regions: cells.get('regions'),
      };
    });
  },
};

const yolo: Shown = {
  shows: ({ detections, image: { width, height } }) =>
    detections.map(({ class: name, box: [x1, y1, x2, y2] }) => {
      const [left, top, right, bottom] = [x1 / width, y1 / height, x2 / width, y2 / height];
      const parts = [(left + right) / 2, (top + bottom) / 2, right - left, bottom - top];
      return [name, ...parts.map((part) => part.toFixed(6))];
    }),
  read: (file) => {
    const files = Object.entries(unzipSync(file));
    const lines = (path: RegExp) => {
      const [, content = new Uint8Array()] = files.find(([name]) => path.test(name)) ?? [];
      return strFromU8(content).split('\n').filter(Boolean);
    };
    const names = lines(/^classes\.txt$/);
    return lines(/^labels\//).map((line) => {
      const [number, ...parts] = line.split(' ');
      return [names[Number(number)], ...parts];
    });
  },
};

const labelstudio: Shown = {
  shows: ({ detections }) =>
    detections.map((each) => {
      const other = otherOf(each);
      return {
        class: each.class,
        score: short(each.confidence),
        notes: [
          ...(other === undefined ? [] : [`or ${other.class}, ${other.score}`]),
          ...(each.regions ?? []).map((name) => `in ${name}`),
        ],
      };
    }),
  read: (file) => {
    const [task] = json(file) as {
      predictions: {
        result: {
          value: { rectanglelabels: string[] };
          score: number;
          meta?: { text: string[] };
        }[];
      }[];
    }[];
    return task?.predictions[0]?.result.map(({ value, score, meta }) => ({
      class: value.rectanglelabels[0],
      score,
      notes: meta?.text ?? [],
    }));
  },
};

const ndjson: Shown = {
  shows: ({ detections }) => detections,
  read: (file) => (json(file) as ImageFields).detections,
};

const geojson: Shown = {
  shows: ({ detections, latitude, longitude }) => ({
    at: [longitude, latitude],
    boxes: detections.map((each) => ({
      class: each.class,
      confidence: short(each.confidence),
      box: each.box.map((side) => short(side, 3)),
    })),
  }),
  read: (file) => {
    const [point] = (
      json(file) as {
        features: { geometry: { coordinates: number[] }; properties: { boxes: unknown } }[];
      }
    ).features;
    return { at: point?.geometry.coordinates, boxes: point?.properties.boxes };
  },
};

const parquet: Shown = {
  shows: csv.shows,
  read: async (file) =>
    (await parquetRows(file)).map((row) => ({
      box: ['x_min', 'y_min', 'x_max', 'y_max'].map((name) => row[name]),
      class: row.class_name,
      score: row.confidence,
      alternative:
        row.alternative === null
          ? undefined
          : { class: row.alternative, score: row.alternative_confidence },
      regions: row.regions ?? '',
    })),
};

export const EXPORTED: Readonly<Record<ExportFormat, Shown>> = {
  coco,
  'coco-results': cocoResults,
  csv,
  yolo,
  labelstudio,
  ndjson,
  geojson,
  parquet,
};
