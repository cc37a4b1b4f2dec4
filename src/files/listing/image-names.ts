/** Which files and folders a search for images takes, by their names. */
import { countKinds, type LeftOut } from '../../api/left-out.js';
import { PICTURES_NOT_READ } from '../file-kind.js';
import { PICTURE_FORMATS } from '../picture-format.js';

const READ = PICTURE_FORMATS.flatMap(({ extensions }) => extensions);
/** Endings of pictures in other formats: a search counts them, so that nobody assumes that they were searched. */
const NOT_READ = PICTURES_NOT_READ.flatMap(({ endings }) => endings);

export const IMAGE_NAME = new RegExp(`\\.(?:${READ.join('|')})$`, 'i');
const LEFT_OUT = new Set(NOT_READ.map((ending) => `.${ending}`));
/** All of these files in a folder and beneath. */
export const PICTURES = `**/*.{${[...READ, ...NOT_READ].join(',')}}`;

/** Folders in which a network volume or a system keeps thumbnails, snapshots and deleted files. */
const NO_PHOTOS = [
  ...['@eaDir', '@Recycle', '@Recently-Snapshot', '@tmp', '#recycle', '#snapshot'],
  ...['$RECYCLE.BIN', '$Recycle.Bin', 'System Volume Information', 'lost+found'],
];

/** Whether a search that was not sent there looks into the folder. Names that begin with a dot are hidden. */
export function holdsPhotos(folder: string): boolean {
  return !folder.startsWith('.') && !NO_PHOTOS.includes(folder);
}

/** Folders that a search for `pattern` does not enter: those that it names itself are entered. */
export function notEntered(pattern: string): Set<string> {
  const named = new Set(pattern.split('/'));
  return new Set(NO_PHOTOS.filter((name) => !named.has(name)));
}

/** Only `* ? [] {}` are wildcards; what else the matcher would read as a regular expression is meant literally. */
export function toPattern(text: string): string {
  return text.replace(/[\\()|+@$]/g, '\\$&').replace(/^!/, '\\!');
}

/** The files that are named as images, and how many others are pictures by their names. */
export function chooseImages(files: readonly string[]): { images: string[]; leftOut: LeftOut } {
  const images: string[] = [];
  const leftOut: string[] = [];
  for (const file of files) {
    if (IMAGE_NAME.test(file)) {
      images.push(file);
      continue;
    }
    const ending = file.slice(file.lastIndexOf('.')).toLowerCase();
    if (LEFT_OUT.has(ending)) leftOut.push(ending);
  }
  return { images, leftOut: countKinds(leftOut) };
}
