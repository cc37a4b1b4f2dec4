/** One line per image, as in `images[]` of the job's record; failed images too. */
import type { ExportSource } from './export-source.js';

export async function* writeNdjson(source: ExportSource): AsyncGenerator<string, void> {
  for await (const page of source.pages()) {
    yield page.map((image) => `${JSON.stringify(image)}\n`).join('');
  }
}
