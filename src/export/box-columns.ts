/** The columns of the tables with one row per box. The first ones are those that `supervision` writes. */
import type { Detection } from '../api/schemas/image.js';
import { rounded } from '../base/rounded.js';
import {
  ClassNumbers,
  isProcessed,
  type ExportSource,
  type ProcessedEntry,
} from './export-source.js';

export interface BoxRow {
  image: ProcessedEntry;
  detection: Detection;
  classNumber: number;
  source: Pick<ExportSource, 'jobId' | 'model'>;
}

export interface BoxColumn {
  name: string;
  kind: 'text' | 'number' | 'whole';
  /** A string for a text, else a number. Undefined: the cell is empty. */
  value: (row: BoxRow) => string | number | undefined;
}

const corner = (name: string, index: 0 | 1 | 2 | 3): BoxColumn => ({
  name,
  kind: 'number',
  value: ({ detection }) => rounded(detection.box[index], 3),
});

/**
 * `tracker_id` stays empty: boxes of single images have no track. `regions` and the alternative are empty where there
 * are none.
 */
const COLUMNS: readonly BoxColumn[] = [
  corner('x_min', 0),
  corner('y_min', 1),
  corner('x_max', 2),
  corner('y_max', 3),
  { name: 'class_id', kind: 'whole', value: ({ classNumber }) => classNumber },
  {
    name: 'confidence',
    kind: 'number',
    value: ({ detection }) => rounded(detection.confidence, 6),
  },
  { name: 'tracker_id', kind: 'whole', value: () => undefined },
  { name: 'class_name', kind: 'text', value: ({ detection }) => detection.class },
  { name: 'image_height', kind: 'whole', value: ({ image }) => image.image.height },
  { name: 'image_path', kind: 'text', value: ({ image }) => image.image_path },
  { name: 'image_width', kind: 'whole', value: ({ image }) => image.image.width },
  { name: 'job_id', kind: 'text', value: ({ source }) => source.jobId ?? undefined },
  { name: 'model', kind: 'text', value: ({ source }) => source.model },
  {
    name: 'regions',
    kind: 'text',
    value: ({ detection: { regions = [] } }) =>
      regions.length === 0 ? undefined : namesText(regions),
  },
  { name: 'alternative', kind: 'text', value: ({ detection }) => detection.alternative?.class },
  {
    name: 'alternative_confidence',
    kind: 'number',
    value: ({ detection: { alternative } }) => alternative && rounded(alternative.confidence, 6),
  },
  { name: 'model_digest', kind: 'text', value: ({ image }) => image.model_digest },
  { name: 'precision', kind: 'text', value: ({ image }) => image.precision },
  { name: 'latitude', kind: 'number', value: ({ image }) => image.latitude },
  { name: 'longitude', kind: 'number', value: ({ image }) => image.longitude },
];

const STANDING_COLUMNS: readonly BoxColumn[] = [
  { name: 'static', kind: 'text', value: ({ detection }) => detection.static },
  { name: 'place', kind: 'whole', value: ({ detection }) => detection.stay?.place },
  { name: 'since', kind: 'text', value: ({ detection }) => detection.stay?.since },
  { name: 'last_seen', kind: 'text', value: ({ detection }) => detection.stay?.last_seen },
];

export function boxColumns({ standing }: ExportSource): readonly BoxColumn[] {
  return standing === true ? [...COLUMNS, ...STANDING_COLUMNS] : COLUMNS;
}

/** The rows of each page. Images without boxes and failed images have none. */
export async function* boxRows(source: ExportSource): AsyncGenerator<BoxRow[], void> {
  const classes = new ClassNumbers(source.classes);
  for await (const page of source.pages()) {
    yield page.filter(isProcessed).flatMap((image) =>
      image.detections.map((detection) => {
        return { image, detection, classNumber: classes.of(detection.class), source };
      }),
    );
  }
}

/** Names separated by `;`, or as JSON where one has it. */
export function namesText(names: readonly string[]): string {
  return names.some((name) => name.includes(';')) ? JSON.stringify(names) : names.join(';');
}
