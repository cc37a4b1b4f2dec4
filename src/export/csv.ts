/** One line per box, in the columns that `supervision` writes. Images without boxes and failed images have no line. */
import type { Detection } from '../api/schemas/image.js';
import { rounded } from '../base/rounded.js';
import {
  ClassNumbers,
  isProcessed,
  type ExportSource,
  type ProcessedEntry,
} from './export-source.js';

/**
 * `tracker_id` stays empty: boxes of single images have no track. `regions` and the alternative are empty where there
 * are none.
 */
const COLUMNS =
  'x_min,y_min,x_max,y_max,class_id,confidence,tracker_id,class_name,image_height,image_path,image_width,job_id,model,regions,alternative,alternative_confidence,model_digest,precision';
const STANDING_COLUMNS = ',static,place,since,last_seen';

export async function* writeCsv(source: ExportSource): AsyncGenerator<string, void> {
  const classes = new ClassNumbers(source.classes);
  const jobId = cell(source.jobId ?? '');
  const model = cell(source.model);
  const lines = (entry: ProcessedEntry): string[] => {
    const { image_path: path, image, model_digest: digest = '', precision = '' } = entry;
    return entry.detections.map((detection) => {
      const { box, confidence, class: name, regions = [], alternative } = detection;
      const corners = box.map((side) => rounded(side, 3)).join(',');
      const score = rounded(confidence, 6);
      const other =
        alternative === undefined
          ? ','
          : `${cell(alternative.class)},${rounded(alternative.confidence, 6)}`;
      return (
        `${corners},${classes.of(name)},${score},,${cell(name)},` +
        `${image.height},${cell(path)},${image.width},${jobId},${model},${cell(namesText(regions))},${other},${digest},${precision}` +
        `${source.standing === true ? standingCells(detection) : ''}\r\n`
      );
    });
  };
  let text = `${COLUMNS}${source.standing === true ? STANDING_COLUMNS : ''}\r\n`;
  for await (const page of source.pages()) {
    yield text + page.filter(isProcessed).flatMap(lines).join('');
    text = '';
  }
  if (text !== '') yield text;
}

function standingCells({ static: isStatic, stay }: Detection): string {
  return `,${isStatic ?? ''},${stay?.place ?? ''},${stay?.since ?? ''},${stay?.last_seen ?? ''}`;
}

/** Names separated by `;`, or as JSON where one has it. */
export function namesText(names: readonly string[]): string {
  return names.some((name) => name.includes(';')) ? JSON.stringify(names) : names.join(';');
}

/**
 * A cell of a table that people open: spreadsheets run one that begins like a formula, and an apostrophe makes it text.
 */
export function cell(text: string): string {
  return exactCell(/^[=+\-@\t\r]/.test(text) ? `'${text}` : text);
}

/** A cell of a table that programs read, as RFC 4180 has it: they find files by it. */
export function exactCell(text: string): string {
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
