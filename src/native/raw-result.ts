/** One image's result as it crossed the boundary. */
import { STAGES, type Timings } from '../api/image.js';
import type { ResultField } from './contract.js';

/** The addon has the model loaded before it sees an image. */
const NATIVE_STAGES = STAGES.filter((stage) => stage !== 'model_load');

export interface RawResult {
  id: number;
  /** Size of the image after EXIF orientation. */
  width: number;
  height: number;
  /** n x 6: x1, y1, x2, y2, confidence, class id; by confidence, highest first. */
  boxes: Float32Array;
  timings: Timings;
  /** Images of the same batch, this one among them. */
  batch: number;
  truncated: boolean;
  totalMs: number;
}

/** To the microsecond: clocks are no finer. */
const toMicros = (ms: number) => Math.round(ms * 1e3) / 1e3;

export function toResult(
  field: (name: keyof typeof ResultField) => number,
  boxes: Float32Array,
): RawResult {
  return {
    id: field('id'),
    width: field('width'),
    height: field('height'),
    boxes,
    timings: Object.fromEntries(
      NATIVE_STAGES.map((stage) => [stage, toMicros(field(`${stage}Ms`))]),
    ) as Timings,
    batch: field('batch'),
    truncated: field('truncated') !== 0,
    totalMs: field('totalMs'),
  };
}
