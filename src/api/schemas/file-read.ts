/**
 * The file that an image was read from, as its descriptor said it. Worker frames, stored outcomes and errors embed it.
 */
import { z } from 'zod';

/** Numbers that do not fit a double are texts. Times are Unix time: nanoseconds as texts, seconds as numbers. */
export const fileReadSchema = z.object({
  size: z.int(),
  modifiedNs: z.string(),
  /** Unlike the time of modification it cannot be set back. */
  changedNs: z.string(),
  device: z.string(),
  inode: z.string(),
  /** When the reading began, by the clock of the machine that read. */
  readAt: z.number(),
  /** SHA-256 of its bytes in hex, where the request asked for it. */
  digest: z.string().optional(),
});
export type FileRead = z.infer<typeof fileReadSchema>;

/** The fields that identify a state of a file: as long as all of them are the same, so is the content. */
export type FileStamp = Pick<FileRead, 'size' | 'modifiedNs' | 'changedNs' | 'device' | 'inode'>;

/** The facts of a file that answers have. They do not tell which file of which volume it was. */
export const fileFactsSchema = z
  .object({
    size: z.int().meta({ description: 'Bytes', format: 'int64' }),
    modified_at: z.number().meta({ description: 'Unix time in seconds', format: 'double' }),
  })
  .meta({
    id: 'FileFacts',
    description:
      'The file that was read, as it was then; absent for a picture that was sent, and in results of releases that did not keep it',
    example: { size: 183_204, modified_at: 1_790_000_000.25 },
  });
export type FileFacts = z.infer<typeof fileFactsSchema>;

export function toWireFile({ size, modifiedNs }: FileStamp): FileFacts {
  return { size, modified_at: toSeconds(modifiedNs) };
}

/**
 * A file that was modified so short a time before it was read may still be written: cameras and copies over a network
 * write in bursts with pauses of seconds. An older one that cannot be used is damaged.
 */
const BEING_WRITTEN_S = 10;

/** Seconds from the last modification to the reading where the file may still be written; else null. */
export function recentAge({ modifiedNs, readAt }: Pick<FileRead, 'modifiedNs' | 'readAt'>) {
  // The clock of a file server may be ahead of ours.
  const age = Math.max(0, readAt - toSeconds(modifiedNs));
  return age < BEING_WRITTEN_S ? age : null;
}

/** Whether the file may still be written, by both of its times: a copy may have set the time of modification back. */
export function mayBeWritten({ modifiedNs, changedNs, readAt }: FileRead): boolean {
  return [modifiedNs, changedNs].some((each) => recentAge({ modifiedNs: each, readAt }) !== null);
}

/** Whether the file was written between two looks from different machines, which number devices differently. */
export function hasMoved(a: FileStamp, b: FileStamp): boolean {
  return a.size !== b.size || a.modifiedNs !== b.modifiedNs || a.changedNs !== b.changedNs;
}

function toSeconds(nanoseconds: string): number {
  return Number(BigInt(nanoseconds) / 1_000n) / 1e6;
}
