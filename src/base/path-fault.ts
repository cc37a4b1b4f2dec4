/** An error of a system call on a path, as a sentence for people. */
import { dirname } from 'node:path';

type Use = 'read' | 'write' | 'open';

const USED = { read: 'read', write: 'written', open: 'opened' } as const;
const READING = new Set(['scandir', 'opendir', 'stat', 'lstat', 'read', 'access']);

export type PathError = NodeJS.ErrnoException & { path: string };

/** An error of a system call on a file or folder. */
export function isPathError(error: unknown): error is PathError {
  return error instanceof Error && 'syscall' in error && 'path' in error;
}

/**
 * Says why a path cannot be used. It names the path of the user, because the error may name a file beside or beneath
 * it.
 */
export function pathFault(error: unknown, path: string, use: Use): string {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  switch (code) {
    case 'ENOENT':
      if (use === 'write') return `There is no folder ${dirname(path)}.`;
      return `There is no file or folder ${path}.`;
    case 'EACCES':
    case 'EPERM':
      return `No permission to ${use} ${path}.`;
    case 'EISDIR':
      return `${path} is a folder; a file is needed.`;
    case 'ENOTDIR':
    case 'EEXIST':
      return `${path} or what is above it is a file; a folder is needed.`;
    case 'ENOSPC':
    case 'EDQUOT':
      return `No space is left on the disk of ${path}.`;
    case 'EROFS':
      return `The disk of ${path} can only be read.`;
    default:
      return `${path} cannot be ${USED[use]} (${code === '' ? String(error) : code}).`;
  }
}

/** The text of an unexpected error. */
export function faultOf(error: PathError): string {
  const { syscall = '' } = error;
  const use = syscall === 'open' ? 'open' : READING.has(syscall) ? 'read' : 'write';
  return pathFault(error, error.path, use);
}
