/** Decides what must be the same for the result of one image to be the result of another. */
import { createHash } from 'node:crypto';
import type { FileRead, FileStamp } from '../api/schemas/file-read.js';
import type { ReuseKeys } from '../store/job-records.js';
import type { DetectOptions } from '../api/options.js';
import { engineParameters } from '../boxes/refine-detections.js';

/** Everything but the file. */
export interface ReuseSubject {
  /** The state that the boxes depend on beside the request: the version of the service, its settings. */
  environment: string;
  owner: string | null;
  /** Only the options of the run count: the others are asked of the boxes. */
  options: DetectOptions;
  /** Score floor of the job. */
  scoreFloor: number;
  modelDigest: string;
  precision: string;
}

/** 132 bits. */
const LENGTH = 22;

/**
 * File systems count time in steps, of up to 2 s on FAT: a file that was changed so short a time before it was read may
 * have been changed once more since, and show the same times.
 */
const COARSEST_NS = 2_000_000_000n;

export function reuseKeys(
  subject: ReuseSubject,
  path: string,
  stamp: FileStamp | null,
  digest: string | null | undefined,
): ReuseKeys {
  return {
    unchanged: stamp && unchangedKey(subject, path, stamp),
    content: digest ? keyOf(subject, ['content', digest]) : null,
  };
}

/** The stamp, where a later change of the file is sure to show in it. */
export function settledStamp(file: FileRead): FileStamp | null {
  const newest = [BigInt(file.modifiedNs), BigInt(file.changedNs)].reduce((a, b) =>
    a > b ? a : b,
  );
  const readNs = BigInt(Math.floor(file.readAt * 1e6)) * 1_000n;
  return readNs - newest >= COARSEST_NS ? file : null;
}

/**
 * Begins with the inode, which files of one folder have about in the order of their names: neighbours of a job are
 * neighbours in the index of the store, where random keys would cost a page each.
 */
function unchangedKey(subject: ReuseSubject, path: string, stamp: FileStamp): string {
  return `${stamp.inode}-${keyOf(subject, ['unchanged', path, ...valuesOf(stamp)])}`;
}

function valuesOf({ device, inode, size, modifiedNs, changedNs }: FileStamp) {
  return [device, inode, size, modifiedNs, changedNs];
}

/** JSON keeps values and lists apart, so that no two subjects have one text. */
function keyOf(subject: ReuseSubject, file: readonly unknown[]): string {
  const { environment, owner, options, scoreFloor, modelDigest, precision } = subject;
  const text = JSON.stringify([
    environment,
    owner,
    [options.modelName, engineParameters(options, scoreFloor)],
    [modelDigest, precision],
    file,
  ]);
  return createHash('sha256').update(text).digest('base64url').slice(0, LENGTH);
}
