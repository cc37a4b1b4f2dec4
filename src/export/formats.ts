/** The export formats: how a file of each is written, named and typed. */
import { writeCoco, writeCocoResults } from './coco.js';
import { writeCsv } from './csv.js';
import type { ExportSource, WriteExport } from './export-source.js';
import { writeLabelStudio } from './labelstudio.js';
import { writeYolo } from './yolo.js';

export const EXPORT_FORMATS = [
  'coco',
  'coco-results',
  'csv',
  'yolo',
  'labelstudio',
  'ndjson',
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
}

export const FORMATS: Readonly<Record<ExportFormat, FormatEntry>> = {
  coco: { ending: '.coco.json', contentType: 'application/json', write: writeCoco },
  'coco-results': {
    ending: '.coco-results.json',
    contentType: 'application/json',
    write: writeCocoResults,
  },
  csv: { ending: '.csv', contentType: 'text/csv; charset=utf-8', write: writeCsv },
  yolo: { ending: '.yolo.zip', contentType: 'application/zip', write: writeYolo },
  labelstudio: {
    ending: '.labelstudio.json',
    contentType: 'application/json',
    write: writeLabelStudio,
  },
  ndjson: { ending: '.ndjson', contentType: 'application/x-ndjson', write: writeNdjson },
};

/** One line per image, as in `images[]` of the job's record; failed images too. */
async function* writeNdjson(source: ExportSource): AsyncGenerator<string, void> {
  for await (const page of source.pages()) {
    yield page.map((image) => `${JSON.stringify(image)}\n`).join('');
  }
}
