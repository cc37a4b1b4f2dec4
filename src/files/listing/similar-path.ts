/** Finds what a path may have meant that leads nowhere. */
import { opendir } from 'node:fs/promises';
import { posix } from 'node:path';
import { kindOf, type Place } from './find-images.js';
import { inFolder } from './open-beneath.js';
import { resolveBeneath } from './resolve-beneath.js';

/** Names of one folder that are compared. */
const MOST_NAMES = 10_000;

/** The path beneath the root that differs in letter case or Unicode form only; null where there is none. */
export async function similarPath(place: Place): Promise<string | null> {
  let found = '.';
  for (const name of place.relative.split('/').filter((each) => each !== '' && each !== '.')) {
    const kind = await kindOf({ ...place, relative: posix.join(found, name) });
    if (typeof kind === 'object') return null;
    const next = kind !== 'absent' ? name : await similarName({ ...place, relative: found }, name);
    if (next === null) return null;
    found = posix.join(found, next);
  }
  return found;
}

async function similarName(place: Place, name: string): Promise<string | null> {
  const folder = await resolveBeneath(place);
  if (folder?.kind !== 'folder') return null;
  const wanted = folded(name);
  return inFolder(folder.real, place, async (path) => {
    let seen = 0;
    for await (const entry of await opendir(path)) {
      if (folded(entry.name) === wanted) return entry.name;
      seen += 1;
      if (seen >= MOST_NAMES) return null;
    }
    return null;
  });
}

function folded(name: string): string {
  return name.normalize('NFC').toLowerCase();
}
