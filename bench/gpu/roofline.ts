/** The shortest time of a network on a card, from two limits: moving bytes and multiplying matrices. */
import type { NetworkWork } from './network-work.js';

export interface Limits {
  /** 10^9 bytes per second, read and written ones together. */
  copyGbS: number;
  /** 10^12 multiplications and additions per second. */
  matrixTflopS: number;
}

export interface Roofline {
  imagesPerSecond: number;
  binding: 'copy bandwidth' | 'matrix product';
}

/** Of batches of `batch` images, if everything overlapped and nothing stayed in a cache. */
export function roofline(work: NetworkWork, limits: Limits, batch: number): Roofline {
  const bytes = batch * work.activationBytes + work.weightBytes;
  const moving = bytes / (limits.copyGbS * 1e9);
  const multiplying = (batch * work.flops) / (limits.matrixTflopS * 1e12);
  return {
    imagesPerSecond: batch / Math.max(moving, multiplying),
    binding: moving >= multiplying ? 'copy bandwidth' : 'matrix product',
  };
}

/** Milliseconds in which the letterbox's bytes can be moved: `sourceBytes` of each image read, FP16 written. */
export function letterboxFloorMs(
  { copyGbS }: Pick<Limits, 'copyGbS'>,
  batch: number,
  sourceBytes: number,
  input: { width: number; height: number },
): number {
  const bytes = sourceBytes + 3 * 2 * input.width * input.height;
  return (batch * bytes) / (copyGbS * 1e6);
}
