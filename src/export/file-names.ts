/** Names of files and folders that every file system takes, made of paths and of free text. */
import { posix } from 'node:path';

/** With a number and an ending behind it, a file system still takes the name. */
const MOST_NAME_BYTES = 180;

/** The name without the characters that some file systems refuse. */
export function safeName(name: string): string {
  // eslint-disable-next-line no-control-regex
  return name.replace(/[\\:*?"<>|\x00-\x1f]/g, '_');
}

/** The name of a picture, without its ending. */
export const stemOf = (path: string): string => shortName(posix.parse(path).name);

/**
 * The folder of a class, which may be called anything: it is one folder, is not hidden, and has no dot or space at its
 * end, which some file systems drop.
 */
export const classFolder = (name: string): string =>
  shortName(name.replaceAll('/', '_')).replace(/^\.+|[. ]+$/g, '_') || '_';

function shortName(name: string): string {
  return Buffer.from(safeName(name))
    .toString('utf8', 0, MOST_NAME_BYTES)
    .replace(/\uFFFD$/, '');
}
