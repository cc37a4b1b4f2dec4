/** Results of images: printed as soon as they are known, counted, or written to a file for other tools. */
import { existsSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { withTemporaryFolder } from '../base/temporary-folder.js';
import type { Problem } from '../api/errors.js';
import type { ImageResult } from '../api/schemas/image.js';
import { relativeName, type ExportSource } from '../export/export-source.js';
import { FORMATS } from '../export/formats.js';
import { toWireImage } from '../answers/processed-image.js';
import type { ExportFlags } from './export-output.js';
import type { NamedImage } from './image-paths.js';
import { writeOutput } from './output-file.js';
import {
  DETECTION_HEADER,
  detectionRows,
  failedRow,
  failureLines,
  printable,
  renderRow,
  type FailedImage,
  classesText,
} from './output-text.js';
import type { Terminal } from './terminal.js';

export type DetectResult =
  | { status: 'ok'; result: ImageResult; annotated: string | undefined }
  | { status: 'error'; error: Problem };

type PrintedImage = ReturnType<typeof printedOf>;

function printedOf({ shown }: NamedImage, detected: DetectResult) {
  const { status } = detected;
  if (status === 'error') return { image_path: shown, status, error: detected.error };
  const { result, annotated } = detected;
  return {
    image_path: shown,
    status,
    ...toWireImage(result),
    model: result.model,
    ...(annotated === undefined ? {} : { annotated_path: annotated }),
  };
}

type PrintResult = (image: NamedImage, detected: DetectResult) => void;

/** One object a line, in the fields of the HTTP interface. */
export function jsonPrinter(terminal: Terminal): PrintResult {
  return (image, detected) => {
    terminal.out(JSON.stringify(printedOf(image, detected)));
  };
}

/** Columns as wide as the names of the images and classes to come. */
export function tablePrinter(
  images: readonly NamedImage[],
  classes: readonly string[],
  terminal: Terminal,
): PrintResult {
  const [imageHeader = '', classHeader = '', scoreHeader = ''] = DETECTION_HEADER;
  const widths = [
    widest(imageHeader, images, ({ shown }) => shown),
    widest(classHeader, classes, (name) => name),
    scoreHeader.length,
  ];
  const print = (row: readonly string[]) => {
    terminal.out(renderRow(row, widths));
  };
  print(DETECTION_HEADER);
  return ({ shown }, detected) => {
    if (detected.status === 'error') print(failedRow(shown, detected.error));
    else detectionRows(shown, detected.result.detections).forEach(print);
  };
}

function widest<T>(header: string, items: readonly T[], text: (item: T) => string): number {
  return items.reduce(
    (width, item) => Math.max(width, printable(text(item)).length),
    header.length,
  );
}

export class RunTotals {
  readonly #failures: FailedImage[] = [];
  readonly #boxes = new Map<string, number>();
  #done = 0;

  add(shown: string, detected: DetectResult): void {
    if (detected.status === 'error') {
      this.#failures.push({ path: shown, error: detected.error });
      return;
    }
    this.#done += 1;
    for (const { class: name } of detected.result.detections) {
      this.#boxes.set(name, (this.#boxes.get(name) ?? 0) + 1);
    }
  }

  get done(): number {
    return this.#done;
  }

  get failed(): number {
    return this.#failures.length;
  }

  /** Boxes by class, the most first; then images, boxes and time; then why images failed. */
  lines(seconds: number, engine: string): string[] {
    const byClass = classesText(this.#boxes);
    const boxes = [...this.#boxes.values()].reduce((sum, count) => sum + count, 0);
    const rate = ((this.done + this.failed) / seconds).toFixed(1);
    return [
      ...(byClass === '' ? [] : [`total: ${byClass}`]),
      `${this.done} done, ${this.failed} failed; ${boxes} box(es), ${seconds.toFixed(2)} s, ${rate} images/s; ${engine}`,
      ...failureLines(this.#failures),
    ];
  }
}

/** Standard error names the images that failed. `json` is one object per line, as `ndjson`. */
export async function exportImages(
  results: AsyncIterable<[NamedImage, DetectResult]>,
  model: Pick<ExportSource, 'model' | 'classes'>,
  { format = 'json', output }: ExportFlags,
  terminal: Terminal,
): Promise<void> {
  await withTemporaryFolder('entries', async (folder) => {
    const kept = join(folder, 'entries.ndjson');
    const pages = () => (existsSync(kept) ? readImages(kept) : keptImages(results, kept, terminal));
    const { write } = FORMATS[format === 'json' ? 'ndjson' : format];
    const source = { jobId: null, ...model, fileName: relativeName, pages };
    await writeOutput(write(source), output, terminal);
  });
}

/** Takes the results as they come and keeps them in the file, for formats that read them twice. */
async function* keptImages(
  results: AsyncIterable<[NamedImage, DetectResult]>,
  path: string,
  terminal: Terminal,
): AsyncGenerator<PrintedImage[], void> {
  const file = await open(path, 'w');
  try {
    for await (const [image, detected] of results) {
      if (detected.status === 'error') {
        const { detail, code } = detected.error;
        terminal.err(printable(`${image.shown}: ${detail} (${code})`));
      }
      const entry = printedOf(image, detected);
      await file.write(`${JSON.stringify(entry)}\n`);
      yield [entry];
    }
  } finally {
    await file.close();
  }
}

async function* readImages(path: string): AsyncGenerator<PrintedImage[], void> {
  const file = await open(path);
  for await (const line of file.readLines()) yield [JSON.parse(line) as PrintedImage];
}
