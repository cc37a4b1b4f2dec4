/** Pictures of a run in folders by what they show: `sorted/car/`, `sorted/empty/`. */
import { mkdir, readdir, rm, rmdir, unlink } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { syncFolder } from '../../base/sync-folder.js';
import type { ExportedImage } from '../../export/export-source.js';
import { beneath } from '../../files/image-paths.js';
import { printable } from '../output-text.js';
import { EXIT_PARTLY, Refusal, UsageError, type Terminal } from '../terminal.js';
import { SORT_LIST, SORTED, type Named } from './named-files.js';
import {
  addName,
  isCopyOf,
  isLinkOf,
  partOf,
  placeCopy,
  placeLink,
  removeName,
  type Name,
  type Placing,
} from './place-file.js';
import { removeRunParts } from './run-files.js';
import { readSortList, writeSortList, type SortedPicture, type SortList } from './sort-list.js';
import type { Sort } from './sort-ways.js';

/** Pictures whose new folders are put on the disk together. */
const PER_STEP = 256;
const MOST_SHOWN = 10;

const AFTER_MOVE =
  '--undo-sort moves them back; --out names another folder for a run of other pictures.';

/** A file and its new place. */
interface Pair {
  from: Name;
  to: Name;
  shown: string;
}

/** Rejects with `Refusal` where pictures are to be moved without a yes. */
export async function askToMove(
  { sort, yes }: { sort?: Sort; yes?: boolean },
  terminal: Terminal,
): Promise<void> {
  if (sort !== 'move' || yes === true) return;
  const question = 'The pictures are moved out of their folders when the run has ended. Go on?';
  if ((await terminal.confirm?.(question)) === true) return;
  throw new Refusal('--sort move moves the pictures: say --yes. Nothing was done.');
}

/**
 * True: the pictures of this run folder were moved, and the move has gone on to its end. Rejects with `UsageError`
 * where something else is asked for: the files of the run would be of other pictures.
 */
export async function continueMove(
  folder: string,
  sort: Sort | undefined,
  terminal: Terminal,
): Promise<boolean> {
  const list = await readSortList(folder);
  if (list?.sort !== 'move') return false;
  if (sort !== 'move') {
    throw new UsageError(`The pictures of the run in ${folder} were moved. ${AFTER_MOVE}`);
  }
  await place(folder, list, terminal);
  terminal.err(`No images were run. ${AFTER_MOVE}`);
  return true;
}

export async function sortPictures(
  folder: string,
  sort: Sort,
  named: Named,
  pages: AsyncIterable<readonly ExportedImage[]>,
  terminal: Terminal,
): Promise<void> {
  const earlier = await readSortList(folder);
  if (earlier !== null) await takeBack(folder, earlier, new Tally());
  await writeSortList(folder, sort, named, pages);
  const list = await readSortList(folder);
  if (list !== null) await place(folder, list, terminal);
}

export async function undoSort(folder: string, terminal: Terminal): Promise<void> {
  const list = await readSortList(folder);
  if (list === null) throw new UsageError(`No pictures were sorted in ${folder}.`);
  const tally = new Tally();
  await takeBack(folder, list, tally);
  await removeRunParts(folder);
  const done = {
    link: 'links removed; the images are where they were',
    copy: 'copies removed; the images are where they were',
    move: 'images moved back',
  };
  tally.tell(done[list.sort], terminal);
}

async function place(folder: string, { sort, pictures }: SortList, terminal: Terminal) {
  const tally = new Tally();
  for await (const step of inSteps(pictures())) {
    const pairs = step.map((picture) => pairOf(picture, folder));
    if (sort === 'move') await moveAll(pairs, tally);
    else {
      for (const pair of pairs) await tally.count(pair, () => placeOther(sort, pair, folder));
    }
  }
  const done = { link: 'linked', copy: 'copied', move: 'moved' }[sort];
  tally.tell(`images ${done} into ${join(folder, SORTED)}`, terminal);
}

async function placeOther(sort: 'link' | 'copy', pair: Pair, folder: string): Promise<Placing> {
  const to = String(pair.to);
  await mkdir(dirname(to), { recursive: true });
  return sort === 'link'
    ? placeLink(pair.from, linkText(pair, folder), to)
    : placeCopy(pair.from, to);
}

/** The list goes only when all of it was taken back. */
async function takeBack(folder: string, { sort, pictures }: SortList, tally: Tally): Promise<void> {
  for await (const step of inSteps(pictures())) {
    const pairs = step.map((picture) => pairOf(picture, folder));
    // A process that was killed has left it.
    if (sort !== 'link') for (const { to } of pairs) await rm(partOf(to), { force: true });
    if (sort === 'move') {
      await moveAll(
        pairs.map(({ from, to, shown }) => ({ from: to, to: from, shown })),
        tally,
      );
    } else {
      for (const pair of pairs) await tally.count(pair, () => removeOther(sort, pair, folder));
    }
  }
  await removeEmpty(join(folder, SORTED));
  if (tally.isWhole) await rm(join(folder, SORT_LIST));
}

/** A file that is not as it was placed stays: it may be the only one. */
async function removeOther(
  sort: 'link' | 'copy',
  pair: Pair,
  folder: string,
): Promise<Placing | null> {
  const to = String(pair.to);
  const isOurs =
    sort === 'link' ? await isLinkOf(linkText(pair, folder), to) : await isCopyOf(pair.from, to);
  if (!isOurs) return null;
  await unlink(to);
  return 'here';
}

/** The new names of some files are on the disk before the old ones are taken away. */
async function moveAll(pairs: readonly Pair[], tally: Tally): Promise<void> {
  const named: Pair[] = [];
  for (const pair of pairs) {
    await tally.count(pair, async () => {
      await mkdir(folderOf(pair.to), { recursive: true });
      const placing = await addName(pair.from, pair.to);
      if (placing !== 'here') return placing;
      named.push(pair);
      return null;
    });
  }
  const folders = new Map(named.map(({ to }) => [folderOf(to).toString('latin1'), folderOf(to)]));
  for (const each of folders.values()) syncFolder(each);
  for (const pair of named) {
    await tally.count(pair, async () => {
      await removeName(pair.from, pair.to);
      return 'here';
    });
  }
}

function folderOf(name: Name): Buffer {
  const bytes = Buffer.from(name);
  return bytes.subarray(0, bytes.lastIndexOf('/'));
}

function pairOf({ from, bytes, to }: SortedPicture, folder: string): Pair {
  const source = bytes === undefined ? from : Buffer.from(bytes, 'base64');
  return { from: source, to: join(folder, to), shown: from };
}

/** Relative where the picture lies in the folder that holds the run: both can then be moved or mounted elsewhere. */
function linkText({ from, to, shown }: Pair, folder: string): Name {
  if (typeof from !== 'string' || beneath(shown, dirname(folder)) === null) return from;
  return relative(dirname(String(to)), from);
}

async function removeEmpty(folder: string): Promise<void> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
  for (const entry of entries) {
    if (entry.isDirectory()) await removeEmpty(join(folder, entry.name));
  }
  await rmdir(folder).catch(() => null);
}

async function* inSteps(pictures: AsyncIterable<SortedPicture>) {
  let step: SortedPicture[] = [];
  for await (const picture of pictures) {
    if (step.push(picture) < PER_STEP) continue;
    yield step;
    step = [];
  }
  if (step.length > 0) yield step;
}

const REASONS: Record<Exclude<Placing, 'here' | 'before'>, string> = {
  missing: 'It is at neither place.',
  taken: 'Another file has its place.',
  link: 'It is a symbolic link, which is not moved.',
};

class Tally {
  #done = 0;
  #left = 0;
  readonly #lines: string[] = [];

  get isWhole(): boolean {
    return this.#left === 0;
  }

  /** Null is not counted. Never rejects. */
  async count({ shown }: Pair, act: () => Promise<Placing | null>): Promise<void> {
    try {
      const placing = await act();
      if (placing === 'here' || placing === 'before') this.#done += 1;
      else if (placing !== null) this.#leave(shown, REASONS[placing]);
    } catch (error) {
      this.#leave(shown, (error as Error).message);
    }
  }

  #leave(shown: string, reason: string): void {
    this.#left += 1;
    if (this.#lines.length < MOST_SHOWN) this.#lines.push(`${shown}: ${reason}`);
  }

  tell(done: string, terminal: Terminal): void {
    const left = this.#left > 0 ? `, ${this.#left} left as they were` : '';
    terminal.out(`${this.#done} ${done}${left}.`);
    for (const line of this.#lines) terminal.err(printable(line));
    if (this.#left > 0) terminal.setExitCode(EXIT_PARTLY);
  }
}
