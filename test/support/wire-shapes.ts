/** Every record of the interface, field by field, for strict comparison (`toEqual`). */
import { expect } from 'vitest';

export const text = expect.any(String) as unknown;
export const number = expect.any(Number) as unknown;
/** Id of the worker in this process. */
export const worker = expect.stringMatching(/^local-/) as unknown;

const detection = { box: [number, number, number, number], confidence: number, class: text };
/** Fields of every processed image: the document's fields, then ours. */
export const imageFields = (detections: number, cars: number, counts: Record<string, number>) => ({
  detections: Array.from({ length: detections }, () => detection),
  car_count: cars,
  processing_time_ms: number,
  total_count: detections,
  class_counts: counts,
  image: { width: 640, height: 480 },
  timings_ms: {
    queue: number,
    decode: number,
    preprocess: number,
    inference: number,
    postprocess: number,
  },
  truncated: false,
  precision: expect.stringMatching(/^(int8|bf16|f32)$/) as string,
  model_digest: expect.stringMatching(/^[0-9a-f]{16}$/) as string,
  file: { size: number, modified_at: number },
});
export const ALL_COUNTS = { bus: 1, car: 3, motorcycle: 1, truck: 1 };
export const modelAndWorker = { model: 'yolov8n.pt', worker_id: worker };

/** The problem as it stands in results. */
export const problem = (status: number, code: string) => ({
  type: `urn:lattice:error:${code}`,
  title: text,
  status,
  code,
  detail: text,
});
/** A refused answer over HTTP. */
export const answered = (status: number, code: string) => ({
  status,
  body: { ...problem(status, code), request_id: text },
});

/** One entry at most: the model file stays, and all workers of a test compute alike. */
const models = expect.toSatisfy(
  (uses) => Array.isArray(uses) && uses.length <= 1 && uses.every(isModelUse),
) as unknown;
const isModelUse = (use: Record<string, unknown>) =>
  Object.keys(use).join() === 'model,model_digest,precision,images';

export const statusRecord = (jobId: string, rest: Record<string, unknown>) => ({
  job_id: jobId,
  submitted_at: number,
  job_type: 'batch_detect',
  title: text,
  model_name: 'yolov8n.pt',
  confidence_threshold: 0.5,
  priority: 0,
  failed_images: 0,
  not_run_images: 0,
  reused_images: 0,
  models,
  total_count: number,
  class_counts: expect.any(Object) as unknown,
  retry_of: null,
  request_id: expect.toSatisfy((id) => id === null || typeof id === 'string') as unknown,
  name: null,
  tags: [],
  notes: null,
  keep: false,
  kept: false,
  expires_at: expect.toSatisfy((at) => at === null || typeof at === 'number') as unknown,
  upload: null,
  watch: null,
  error: null,
  ...rest,
});

export const resultRecord = (jobId: string, rest: Record<string, unknown>) => ({
  job_id: jobId,
  status: 'completed',
  failed_images: 0,
  not_run_images: 0,
  reused_images: 0,
  models,
  error: null,
  submitted_at: number,
  completed_at: number,
  metadata: null,
  ...rest,
});
