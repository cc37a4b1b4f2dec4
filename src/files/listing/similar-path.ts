/** Finds what a path may have meant that leads nowhere. */
import { opendir } from 'node:fs/promises';
import { join, posix } from 'node:path';
import { isPlainFolder, kindOf, type Place } from './find-images.js';

/** Names of one folder that are compared. */
const MOST_NAMES = 10_000;

/** The path beneath the root that differs in letter case or Unicode form only; null where there is none. Follows no link. */
export async function similarPath({ root, relative }: Place): Promise<string | null> {
  let found = '.';
  for (const name of relative.split('/').filter((each) => each !== '' && each !== '.')) {
    const kind = await kindOf({ root, relative: posix.join(found, name) });
    const next = kind !== 'absent' ? name : await similarName({ root, relative: found }, name);
    if (next === null) return null;
    found = posix.join(found, next);
  }
  return found;
}

async function similarName(folder: Place, name: string): Promise<string | null> {
  if (!(await isPlainFolder(folder))) return null;
  const wanted = folded(name);
  let seen = 0;
  for await (const entry of await opendir(join(folder.root, folder.relative))) {
    if (folded(entry.name) === wanted) return entry.name;
    seen += 1;
    if (seen >= MOST_NAMES) return null;
  }
  return null;
}

function folded(name: string): string {
  return name.normalize('NFC').toLowerCase();
}
