/** Versions of files, by which a scan tells that one has changed. */
import { accessSync, constants, lstatSync, statfsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { hasEscapes, pathOnDisk } from './byte-names.js';
import { resolveBeneath } from './resolve-beneath.js';

/** FUSE, CIFS, SMB 2, FAT, exFAT: the number of a file may change while it lies there. */
const WITHOUT_INODES = new Set([0x65735546, 0xff534d42, 0xfe534d42, 0x4d44, 0x2011bab0]);

/** Status of a file, with its version; for a link, the status of its target. */
export interface FileStatus {
  onDisk: string | Buffer;
  version: string;
  size: bigint;
  inode: bigint;
  /** Time of the last change of its status, Unix milliseconds: a rename changes it. */
  changedAt: number;
}

/** Null: there is no such file. Undefined: it cannot be known. */
export type FoundStatus = FileStatus | null | undefined;

export class FileVersions {
  readonly #roots: readonly string[];
  /** By device. */
  readonly #inodes = new Map<bigint, boolean>();

  /** Links may lead into these roots. */
  constructor(roots: readonly string[]) {
    this.#roots = roots;
  }

  /** `slow`: it takes more than one call. */
  now(root: string, path: string): FoundStatus | 'slow' {
    const found = hasEscapes(path) ? 'link' : this.#stat(join(root, path));
    return found === 'link' ? 'slow' : found;
  }

  async read(root: string, path: string): Promise<FoundStatus> {
    const onDisk = hasEscapes(path) ? await pathOnDisk(root, path) : join(root, path);
    const found = this.#stat(onDisk);
    if (found !== 'link') return found;
    const target = await resolveBeneath({ root, relative: path, roots: this.#roots });
    const status = target?.kind === 'file' ? this.#stat(target.real) : null;
    return status === 'link' ? null : status;
  }

  #stat(onDisk: string | Buffer): FoundStatus | 'link' {
    try {
      const status = lstatSync(onDisk, { bigint: true });
      if (status.isSymbolicLink()) return 'link';
      if (!status.isFile()) return null;
      const { ino, size, mtimeNs, ctimeMs, dev } = status;
      const inode = this.#keepsInodes(dev, onDisk) ? ino : 0n;
      const version = `${inode}-${size}-${mtimeNs}`;
      return { onDisk, version, size, inode, changedAt: Number(ctimeMs) };
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      return code === 'ENOENT' || code === 'ENOTDIR' ? null : undefined;
    }
  }

  #keepsInodes(device: bigint, onDisk: string | Buffer): boolean {
    let keeps = this.#inodes.get(device);
    if (keeps === undefined) {
      keeps = !WITHOUT_INODES.has(statfsSync(onDisk).type);
      this.#inodes.set(device, keeps);
    }
    return keeps;
  }
}

export function isReadable(onDisk: string | Buffer): boolean {
  try {
    accessSync(onDisk, constants.R_OK);
    return true;
  } catch {
    return false;
  }
}

export function isFolder(onDisk: string): boolean {
  try {
    return statSync(onDisk).isDirectory();
  } catch {
    return false;
  }
}
