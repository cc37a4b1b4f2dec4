/** Entries that come once, as pages that can be read again: a temporary file keeps them. */
import { createReadStream } from 'node:fs';
import { mkdtemp, open, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

export class KeptEntries<Entry> {
  readonly #source: AsyncIterable<Entry>;
  #folder: string | null = null;

  constructor(source: AsyncIterable<Entry>) {
    this.#source = source;
  }

  /** The first call takes the entries as they come and must be read to the end before another. */
  pages(): AsyncGenerator<Entry[], void> {
    return this.#folder === null ? this.#first() : this.#again(this.#folder);
  }

  async close(): Promise<void> {
    if (this.#folder !== null) await rm(this.#folder, { recursive: true, force: true });
  }

  async *#first(): AsyncGenerator<Entry[], void> {
    this.#folder = await mkdtemp(join(tmpdir(), 'lattice-entries-'));
    const file = await open(join(this.#folder, 'entries.ndjson'), 'w');
    try {
      for await (const entry of this.#source) {
        await file.write(`${JSON.stringify(entry)}\n`);
        yield [entry];
      }
    } finally {
      await file.close();
    }
  }

  async *#again(folder: string): AsyncGenerator<Entry[], void> {
    const input = createReadStream(join(folder, 'entries.ndjson'));
    for await (const line of createInterface({ input })) yield [JSON.parse(line) as Entry];
  }
}
