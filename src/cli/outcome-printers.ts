/** Prints the outcome of each image as soon as it is known. */
import { DETECTION_HEADER, detectionRows, failedRow } from './detection-rows.js';
import { entryOf, type ImageOutcome } from './image-entry.js';
import type { NamedImage } from './image-paths.js';
import { renderRow } from './table.js';
import type { Terminal } from './terminal.js';

export type PrintOutcome = (image: NamedImage, outcome: ImageOutcome) => void;

/** One object a line, in the fields of the HTTP interface. */
export function jsonPrinter(terminal: Terminal): PrintOutcome {
  return (image, outcome) => {
    terminal.out(JSON.stringify(entryOf(image, outcome)));
  };
}

/** Columns as wide as the names of the images and classes to come. */
export function tablePrinter(
  images: readonly NamedImage[],
  classes: readonly string[],
  terminal: Terminal,
): PrintOutcome {
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
  return ({ shown }, outcome) => {
    if (outcome.status === 'error') print(failedRow(shown, outcome.error));
    else detectionRows(shown, outcome.result.detections).forEach(print);
  };
}

function widest<T>(header: string, items: readonly T[], text: (item: T) => string): number {
  return items.reduce((width, item) => Math.max(width, text(item).length), header.length);
}
