/** Figures of one worker, and of all workers together. Counts are in images. */
import { z } from 'zod';
import { gpuReadingSchema } from './gpu-reading.js';

export const workerStatsSchema = z.object({
  device: z.string(),
  /** How many GPUs compute; 0 on the CPU. */
  gpus: z.number(),
  precision: z.string(),
  reason: z.string().meta({ description: 'Why this device and precision were taken' }),
  queuedSync: z.int(),
  queuedAsync: z.int(),
  heldBytes: z.int().meta({
    format: 'int64',
    description: 'Decoded pixels of jobs that wait for the network or are in it',
  }),
  hangingFolders: z.int().meta({
    description: 'Image folders whose volume does not answer, of each worker',
  }),
  /** How many async images keep the device busy. */
  suggestedWindow: z.number(),
  /** Absent on the CPU. */
  gpuReadings: z.array(gpuReadingSchema).readonly().optional(),
});

export type WorkerStats = z.infer<typeof workerStatsSchema>;

/** What the executor counts comes on top of what its workers tell. */
export const detectorStatsSchema = workerStatsSchema.extend({
  inFlight: z.int(),
  completed: z.int(),
  failed: z.int(),
  /** Over about the last minute of work; 0 before the first image. */
  imagesPerSecond: z.number(),
});

export type DetectorStats = z.infer<typeof detectorStatsSchema>;
