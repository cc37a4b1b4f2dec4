/** The result record of several images as JSON text, written while the entries are read. */
import type { ImageEntry, Job } from '../../jobs/job.js';
import type { HideFolders } from '../problem.js';
import { Tally, viewEntry, viewHead, viewTail } from './result-view.js';

/**
 * The text of `viewResult` to the character, one piece for each page. A page is asked for when its piece is. Throws
 * what `pages` throws; the pieces until then are no JSON value.
 */
export async function* resultText(
  job: Job,
  pages: AsyncIterable<readonly ImageEntry[]>,
  hide: HideFolders,
): AsyncGenerator<string, void> {
  const tally = new Tally();
  let text = `{${fieldsOf(viewHead(job))},"result":{"images":[`;
  let count = 0;
  for await (const page of pages) {
    for (const entry of page) {
      const image = viewEntry(job, entry, hide);
      tally.add(image);
      text += `${count === 0 ? '' : ','}${JSON.stringify(image)}`;
      count += 1;
    }
    // The last piece waits for the end, so that one page makes one piece.
    if (count >= job.imageCount) continue;
    yield text;
    text = '';
  }
  yield `${text}],${fieldsOf(tally.totals(job))}},${fieldsOf(viewTail(job, hide))}}`;
}

/** The fields of an object as JSON without the braces. */
function fieldsOf(value: object): string {
  return JSON.stringify(value).slice(1, -1);
}
