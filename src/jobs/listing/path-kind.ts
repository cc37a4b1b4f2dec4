/** What stands at a path, before it is listed. */
import { access, constants, lstat, realpath } from 'node:fs/promises';
import { join } from 'node:path';

/** Beneath a root; both without a link's target in mind. */
export interface Place {
  root: string;
  relative: string;
}

export type PathKind = 'file' | 'folder' | 'absent';

/** Links count as what they are, not as what they lead to. */
export async function kindOf({ root, relative }: Place): Promise<PathKind> {
  try {
    const entry = await lstat(join(root, relative));
    return entry.isDirectory() ? 'folder' : 'file';
  } catch {
    return 'absent';
  }
}

/** Whether this user may list the folder and open what is in it. */
export async function isReadable({ root, relative }: Place): Promise<boolean> {
  return access(join(root, relative), constants.R_OK | constants.X_OK).then(
    () => true,
    () => false,
  );
}

/** Whether no link leads there. */
export async function isPlainFolder({ root, relative }: Place): Promise<boolean> {
  try {
    return (await realpath(join(root, relative))) === join(await realpath(root), relative, '.');
  } catch {
    return false;
  }
}
