/** The limits of the plan's device, measured now. */
import { gpuLimits } from './gpu-bench.js';
import { median } from '../load/percentiles.js';
import type { Plan } from './plan.js';
import type { Limits } from './roofline.js';

/** Null for what could not be measured; `notes` say why. */
export interface CardLimits {
  /** What the figures are called; a stand-in says so. */
  names: { copy: string; matrix: string };
  copyGbS: number;
  uploadGbS: number | null;
  downloadGbS: number | null;
  matrixTflopS: number | null;
  notes: string[];
}

/** For building matrix products of three sizes; they are not kept. */
const PRODUCT_SECONDS = 60;

export async function cardLimits(plan: Plan): Promise<CardLimits> {
  if (plan.device === 'cpu') return standIn(plan.effort.rounds);
  const limits = await gpuLimits(Math.max(10, plan.effort.rounds), PRODUCT_SECONDS);
  const { matrixSize: size, matrixMissing } = limits;
  return {
    names: {
      copy: 'copy within GPU memory, read + written',
      matrix: `FP16 matrix product, ${3 * size} x ${size} x ${size}`,
    },
    copyGbS: limits.copyGbS,
    uploadGbS: limits.uploadGbS,
    downloadGbS: limits.downloadGbS,
    matrixTflopS: matrixMissing === null ? limits.matrixTflopS : null,
    notes: [
      `The limits are those of the ${limits.name}: copies of 512 MiB within its memory, of 128 MiB over the bus, ` +
        `and the fastest of three FP16 matrix products built by TensorRT ${limits.tensorrt}.`,
      ...(matrixMissing === null ? [] : [`No matrix product was measured: ${matrixMissing}`]),
    ],
  };
}

/** Both limits that a roofline needs. Null where one is missing. */
export function rooflineLimits({ copyGbS, matrixTflopS }: CardLimits): Limits | null {
  return matrixTflopS === null ? null : { copyGbS, matrixTflopS };
}

const SIDE = 96;
const COPIED = 16 * 1024 * 1024;

/** Of a dry run: figures of the right kind, so that what is computed from them runs. */
function standIn(rounds: number): CardLimits {
  const [from, to] = [Buffer.alloc(COPIED, 1), Buffer.alloc(COPIED, 2)];
  const copying = timed(rounds, () => from.copy(to));
  const [a, b, product] = [0, 1, 2].map(() => new Float32Array(SIDE * SIDE).fill(0.5));
  const multiplying = timed(rounds, () => {
    multiply(a!, b!, product!);
  });
  return {
    names: {
      copy: 'stand-in: copy in host memory, read + written',
      matrix: `stand-in: matrix product, ${SIDE} x ${SIDE} x ${SIDE}`,
    },
    copyGbS: (2 * COPIED) / (copying * 1e6),
    uploadGbS: null,
    downloadGbS: null,
    matrixTflopS: (2 * SIDE ** 3) / (multiplying * 1e9),
    notes: [
      'Stand-ins, no limits of any GPU: a copy of 16 MiB and a small FP32 matrix product, both by one JavaScript thread.',
    ],
  };
}

/** Milliseconds. */
function timed(rounds: number, work: () => void): number {
  const samples: number[] = [];
  for (let round = -1; round < rounds; round += 1) {
    const start = performance.now();
    work();
    if (round >= 0) samples.push(performance.now() - start);
  }
  return median(samples);
}

function multiply(a: Float32Array, b: Float32Array, product: Float32Array): void {
  for (let row = 0; row < SIDE; row += 1) {
    for (let column = 0; column < SIDE; column += 1) {
      let sum = 0;
      for (let at = 0; at < SIDE; at += 1) sum += a[row * SIDE + at]! * b[at * SIDE + column]!;
      product[row * SIDE + column] = sum;
    }
  }
}
