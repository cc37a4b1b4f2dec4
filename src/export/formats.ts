/** The export formats: how a file of each is written, named and typed. */
import { writeCoco, writeCocoResults } from './coco.js';
import { writeCsv } from './csv.js';
import type { ExportSource, WriteExport } from './export-source.js';
import { writeGeojson } from './geojson.js';
import { writeLabelStudio } from './labelstudio.js';
import { writeParquet } from './parquet.js';
import { writeYolo } from './yolo.js';

export const EXPORT_FORMATS = [
  'coco',
  'coco-results',
  'csv',
  'yolo',
  'labelstudio',
  'ndjson',
  'geojson',
  'parquet',
] as const;
export type ExportFormat = (typeof EXPORT_FORMATS)[number];

/** `json` is the record itself. */
export const RESULT_FORMATS = ['json', ...EXPORT_FORMATS] as const;
export type ResultFormat = (typeof RESULT_FORMATS)[number];

interface FormatEntry {
  /** End of the file name, after the id of the job. */
  ending: string;
  contentType: string;
  write: WriteExport;
  /** The reason why a terminal cannot show it; absent for text. */
  binary?: string;
}

export const FORMATS: Readonly<Record<ExportFormat, FormatEntry>> = {
  coco: { ending: '.coco.json', contentType: 'application/json', write: writeCoco },
  'coco-results': {
    ending: '.coco-results.json',
    contentType: 'application/json',
    write: writeCocoResults,
  },
  csv: { ending: '.csv', contentType: 'text/csv; charset=utf-8', write: writeCsv },
  yolo: {
    ending: '.yolo.zip',
    contentType: 'application/zip',
    write: writeYolo,
    binary: 'is a zip archive',
  },
  labelstudio: {
    ending: '.labelstudio.json',
    contentType: 'application/json',
    write: writeLabelStudio,
  },
  ndjson: { ending: '.ndjson', contentType: 'application/x-ndjson', write: writeNdjson },
  geojson: { ending: '.geojson', contentType: 'application/geo+json', write: writeGeojson },
  parquet: {
    ending: '.parquet',
    contentType: 'application/vnd.apache.parquet',
    write: writeParquet,
    binary: 'is binary',
  },
};

/** One line per image, as in `images[]` of the job's record; failed images too. */
async function* writeNdjson(source: ExportSource): AsyncGenerator<string, void> {
  for await (const page of source.pages()) {
    yield page.map((image) => `${JSON.stringify(image)}\n`).join('');
  }
}
