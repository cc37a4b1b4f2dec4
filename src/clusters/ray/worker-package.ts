/** The Python package `lattice_ray` as the archive that Ray hands to its nodes. */
import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { zipSync, type Zippable } from 'fflate';
import { PACKAGE_ROOT } from '../../base/package.js';

/** An archive has to be the same bytes whenever it is made; this is the first time that zip knows. */
const EPOCH = new Date(1980, 0, 1);

export interface WorkerPackage {
  /** Follows from the content: `_ray_pkg_<hash>.zip`. */
  name: string;
  /** A zip archive with the one top folder `lattice_ray`. */
  bytes: Uint8Array;
}

/** Rejects with a sentence when the package is not there. */
export async function packWorkers(
  folder = join(PACKAGE_ROOT, 'cluster', 'lattice_ray'),
): Promise<WorkerPackage> {
  const entries = await readdir(folder).catch(() => []);
  const files = entries.filter((name) => name.endsWith('.py')).sort();
  if (files.length === 0) {
    throw new Error('the Python package cluster/lattice_ray is missing from this installation');
  }
  const archive: Zippable = {};
  const hash = createHash('sha256');
  for (const file of files) {
    const content = await readFile(join(folder, file));
    hash.update(`${file}\0${content.length}\0`).update(content);
    archive[`lattice_ray/${file}`] = content;
  }
  const name = `_ray_pkg_${hash.digest('hex').slice(0, 40)}.zip`;
  return { name, bytes: zipSync(archive, { mtime: EPOCH }) };
}
