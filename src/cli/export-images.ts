/** Writes images that were detected in this process to a file for other tools. */
import type { ExportSource } from '../export/export-source.js';
import { FORMATS } from '../export/formats.js';
import { relativeName } from '../export/relative-name.js';
import { writeExport, type ExportFlags } from './export-output.js';
import { entryOf, type ImageEntry, type ImageOutcome } from './image-entry.js';
import type { NamedImage } from './image-paths.js';
import { KeptEntries } from './kept-entries.js';
import type { Terminal } from './terminal.js';

/** Standard error names the images that failed. `json` is one object per line, as `ndjson`. */
export async function exportImages(
  outcomes: AsyncIterable<[NamedImage, ImageOutcome]>,
  model: Pick<ExportSource, 'model' | 'classes'>,
  { format = 'json', output }: ExportFlags,
  terminal: Terminal,
): Promise<void> {
  async function* entries(): AsyncGenerator<ImageEntry, void> {
    for await (const [image, outcome] of outcomes) {
      if (outcome.status === 'error') {
        terminal.err(`${image.shown}: ${outcome.error.detail} (${outcome.error.code})`);
      }
      yield entryOf(image, outcome);
    }
  }
  const kept = new KeptEntries(entries());
  try {
    const { write } = FORMATS[format === 'json' ? 'ndjson' : format];
    const source = { jobId: null, ...model, fileName: relativeName, pages: () => kept.pages() };
    await writeExport(write(source), output, terminal);
  } finally {
    await kept.close();
  }
}
