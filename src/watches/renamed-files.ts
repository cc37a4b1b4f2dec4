/** Files whose content is known by other names: which of them have a new name, and which are one more copy. */
import type { SeenFile, Standing } from '../files/listing/seen-files.js';
import type { FileMove } from '../store/watched.js';

export interface NamedFile extends SeenFile {
  /** Under which files of this version were known before. */
  names: readonly string[];
}

export interface RenamedFiles {
  moves: FileMove[];
  /** By path; a file without one is asked for again after the next outcome or scan. */
  standings: Map<string, Standing>;
}

/**
 * Whose versions `renamedFiles` needs. The files themselves come last: if they are there after an earlier name was not,
 * that name is gone, and not the folder.
 */
export function pathsToLookAt(files: readonly NamedFile[]): string[] {
  return [...new Set([...files.flatMap(({ names }) => names), ...files.map(({ path }) => path)])];
}

/**
 * `current`: path -> version of the file there now; null: no file, undefined: not known, as on a volume that is away.
 * An earlier name with another file or none is taken by one file of each version; where all still have the version, the
 * file is a copy.
 */
export function renamedFiles(
  files: readonly NamedFile[],
  current: ReadonlyMap<string, string | null | undefined>,
): RenamedFiles {
  const moves: FileMove[] = [];
  const standings = new Map<string, Standing>();
  const takenNames = new Set<string>();
  for (const { path, version, names } of files) {
    if (current.get(path) !== version) continue;
    const from = names.find((name) => {
      const now = current.get(name);
      return now !== undefined && now !== version && !takenNames.has(`${version} ${name}`);
    });
    if (from !== undefined) {
      takenNames.add(`${version} ${from}`);
      moves.push({ from, to: path, version });
      standings.set(path, 'handled');
    } else if (names.every((name) => current.get(name) === version)) standings.set(path, 'copy');
  }
  return { moves, standings };
}
