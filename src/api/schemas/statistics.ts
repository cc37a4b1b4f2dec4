/**
 * Figures of one worker, and of all workers together; counts are in images. A field says all of a statistic: its schema
 * and text, how the figures of workers add up and which metric it is. The object it stands in says who counts it and
 * whether the cluster status shows it.
 */
import { z } from 'zod';
import { gpuReadingSchema } from './gpu-reading.js';

/** A metric may show several statistics: each is the value of a label. */
interface Metric {
  name: string;
  help: string;
  label: string;
  value: string;
}

interface Use {
  /** How the values of several workers are combined: as their sum, or each name once. */
  together: 'sum' | 'names';
  metric?: Metric | undefined;
}

const uses = z.registry<Use>();
const named = () => z.string().register(uses, { together: 'names' });

function summed<Schema extends z.ZodType>(schema: Schema, metric?: Metric): Schema {
  uses.add(schema, { together: 'sum', metric });
  return schema;
}

const queue = {
  name: 'lattice_queue_images',
  help: 'Images that wait for the network, by class; images of jobs are fetched on demand.',
  label: 'class',
};
const held = {
  name: 'lattice_held_pixel_bytes',
  help: 'Decoded pixels that wait for the network or are in it, by class.',
  label: 'class',
};
const folders = {
  name: 'lattice_image_folders',
  help: 'Image folders whose volume does not answer, of each worker.',
  label: 'state',
};

const modelFiles = {
  name: 'lattice_model_files',
  help: 'Files that have replaced those of loaded models: taken since the start (swapped), and lying there unused because they cannot be (refused), of each worker.',
  label: 'state',
};

const ofAddon = {
  queuedSync: summed(z.int(), { ...queue, value: 'sync' }),
  queuedAsync: summed(z.int(), { ...queue, value: 'async' }),
  heldBytes: summed(
    z.int().meta({
      format: 'int64',
      description: 'Decoded pixels of jobs that wait for the network or are in it',
    }),
    { ...held, value: 'async' },
  ),
};

const ofWorkersInStatus = {
  device: named(),
  precision: named(),
  reason: z.string().meta({ description: 'Why this device and precision were taken' }),
  ...ofAddon,
  hangingFolders: summed(
    z.int().meta({ description: 'Image folders whose volume does not answer, of each worker' }),
    { ...folders, value: 'hanging' },
  ),
};

export const workerStatsSchema = z.object({
  ...ofWorkersInStatus,
  /** How many GPUs compute; 0 on the CPU. */
  gpus: summed(z.number()),
  /** How many async images keep the device busy. */
  suggestedWindow: summed(z.number()),
  /** Model files that were replaced while they were loaded, and taken. */
  modelSwaps: summed(z.int(), { ...modelFiles, value: 'swapped' }),
  /** Model files that were replaced by one that cannot be used: the earlier one goes on answering. */
  refusedModelFiles: summed(z.int(), { ...modelFiles, value: 'refused' }),
  /** Absent on the CPU. */
  gpuReadings: z.array(gpuReadingSchema).readonly().optional(),
});

export const statusStatisticsSchema = z.object({
  ...ofWorkersInStatus,
  inFlight: z.int(),
  /** The rate over about the last minute of work; 0 before the first image. */
  imagesPerSecond: z.number(),
});

/** The counts of the executor come on top of those of its workers. */
const detectorStatsSchema = z.object({
  ...workerStatsSchema.shape,
  ...statusStatisticsSchema.shape,
  completed: z.int(),
  failed: z.int(),
  /** Images that no worker has; those of jobs are counted by their jobs. */
  waitingSync: z.int(),
  /** Images that workers have. */
  inHandSync: z.int(),
  inHandAsync: z.int(),
});

/** Three figures that share no image. */
export const imageFiguresSchema = z.object({
  waiting: z.int().meta({
    description: 'Images of jobs that have not ended and of requests, that no worker has yet',
  }),
  inHand: z.int().meta({ description: 'Images that workers read, decode or compute now' }),
  done: z.int().meta({
    description: 'Images that ended on a worker since the start of the service, also in error',
  }),
});
export type ImageFigures = z.infer<typeof imageFiguresSchema>;

/** `unfinished`: images of jobs that have no outcome yet. */
export function imageFigures(stats: DetectorStats, unfinished: number): ImageFigures {
  const { waitingSync, inHandSync, inHandAsync, completed, failed } = stats;
  return {
    waiting: waitingSync + Math.max(0, unfinished - inHandAsync),
    inHand: inHandSync + inHandAsync,
    done: completed + failed,
  };
}

export type WorkerStats = z.infer<typeof workerStatsSchema>;
export type DetectorStats = z.infer<typeof detectorStatsSchema>;
/** Figures by the names that the addon gives them. */
export type AddonStatistics = Record<keyof typeof ofAddon, number>;

/** Zeros for null. Other figures of the addon are left out. */
export function addonStatistics(stats: AddonStatistics | null): AddonStatistics {
  const names = Object.keys(ofAddon) as (keyof AddonStatistics)[];
  const fields = names.map((name) => [name, stats?.[name] ?? 0]);
  return Object.fromEntries(fields) as AddonStatistics;
}

/** Workers as one, without the fields that do not add up. */
export function addUp(stats: readonly WorkerStats[]): Omit<WorkerStats, 'reason' | 'gpuReadings'> {
  const fields = entriesOf(workerStatsSchema).flatMap(([name, { together }]) => {
    const values = stats.map((worker) => worker[name]);
    return [
      [
        name,
        together === 'sum' ? total(values) : [...new Set(values.map(String))].join(', ') || 'none',
      ],
    ];
  });
  return Object.fromEntries(fields) as ReturnType<typeof addUp>;
}

const total = (values: readonly unknown[]) =>
  values.reduce<number>((all, value) => all + Number(value), 0);

const METRICS = entriesOf(detectorStatsSchema).flatMap(([field, { metric }]) =>
  metric === undefined ? [] : [{ field, ...metric }],
);

/** Each metric once, and how it reads the statistics, by the value of its label. */
export const STATISTIC_METRICS = METRICS.filter(
  ({ name }, index) => METRICS.findIndex((first) => first.name === name) === index,
).map(({ name, help, label }) => ({
  name,
  help,
  label,
  read: (stats: DetectorStats): Record<string, number> =>
    Object.fromEntries(
      METRICS.filter((metric) => metric.name === name).map(({ field, value }) => [
        value,
        Number(stats[field]),
      ]),
    ),
}));

function entriesOf<Shape extends z.ZodRawShape>(schema: z.ZodObject<Shape>) {
  return Object.entries(schema.shape).flatMap(([name, field]): [keyof Shape, Use][] => {
    const use = uses.get(field);
    return use === undefined ? [] : [[name, use]];
  });
}
