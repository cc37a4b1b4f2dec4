/** A JSON array of the processed images of an export. */
import { isProcessed, type ExportSource, type ProcessedEntry } from './export-source.js';

/** `before`, then the array: a piece per page. Returns how many images failed and are left out. */
export async function* jsonArray(
  { pages }: ExportSource,
  before: string,
  itemsOf: (image: ProcessedEntry) => readonly object[],
): AsyncGenerator<string, number> {
  let failed = 0;
  let separator = '';
  let text = `${before}[\n`;
  for await (const page of pages()) {
    const processed = page.filter(isProcessed);
    failed += page.length - processed.length;
    for (const item of processed.flatMap(itemsOf)) {
      text += separator + JSON.stringify(item);
      separator = ',\n';
    }
    yield text;
    text = '';
  }
  yield `${text}]`;
  return failed;
}
