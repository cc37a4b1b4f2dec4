/** Figures of a GPU at one moment. A field has all facts of a figure: its schema and text, and its metric. */
import { z } from 'zod';

/** Reasons that hold the clocks down. */
export const SLOWDOWNS = [
  'power_cap',
  'thermal',
  'hardware_slowdown',
  'hardware_thermal',
  'power_brake',
] as const;

/** The states of a GPU from good to bad. */
export const GPU_STATES = ['ok', 'failed_check', 'lost'] as const;

interface Metric<Value = unknown> {
  name: string;
  help: string;
  kind?: 'counter';
  /** Converts the field to the base unit of metrics. Absent: the field has it already. */
  of?: (value: Value) => number;
}

const metrics = z.registry<Metric>();

function shown<Schema extends z.ZodType>(
  schema: Schema,
  metric: Metric<NonNullable<z.infer<Schema>>>,
): Schema {
  metrics.add(schema, metric as Metric);
  return schema;
}

/** Null: the GPU, its driver or its mode of use does not report the figure. */
const figure = z.number().nullable();

/** Figures of the driver. */
const gpuFiguresSchema = z.object({
  memoryTotalBytes: shown(figure.meta({ format: 'double' }), {
    name: 'lattice_gpu_memory_total_bytes',
    help: 'Memory of the GPU.',
  }),
  /** Includes the memory that the driver keeps for itself. */
  memoryUsedBytes: shown(figure.meta({ format: 'double' }), {
    name: 'lattice_gpu_memory_used_bytes',
    help: 'Memory in use by all processes and the driver.',
  }),
  utilisationPercent: shown(
    figure.meta({ description: 'Time in which a kernel ran, of the last sampling period' }),
    {
      name: 'lattice_gpu_utilisation_ratio',
      help: 'Share of time, 0 to 1, in which a kernel ran.',
      of: (percent) => percent * 0.01,
    },
  ),
  temperatureCelsius: shown(figure.clone(), {
    name: 'lattice_gpu_temperature_celsius',
    help: 'Temperature of the chip.',
  }),
  powerWatts: shown(figure.clone(), { name: 'lattice_gpu_power_watts', help: 'Power drawn.' }),
  powerLimitWatts: shown(figure.clone(), {
    name: 'lattice_gpu_power_limit_watts',
    help: 'Power that the GPU is held to.',
  }),
  smClockMhz: shown(figure.clone(), {
    name: 'lattice_gpu_sm_clock_hertz',
    help: 'Clock of the multiprocessors.',
    of: (megahertz) => megahertz * 1e6,
  }),
  uncorrectedMemoryErrors: shown(figure.meta({ description: 'Since the driver was loaded' }), {
    name: 'lattice_gpu_uncorrected_memory_errors_total',
    kind: 'counter',
    help: 'Memory errors that could not be corrected, since the driver was loaded.',
  }),
  mig: z.boolean().nullable().meta({
    description: 'True: the figures are those of a GPU of which the worker has a part only',
  }),
  slowedBy: shown(z.array(z.enum(SLOWDOWNS)).meta({ description: 'What holds the clocks down' }), {
    name: 'lattice_gpu_slowdown_reasons',
    help: 'Reasons for which the clocks are held down now; the cluster status names them.',
    of: (reasons) => reasons.length,
  }),
});

export const gpuReadingSchema = z.object({
  index: z.int().meta({ description: 'As the worker counts its GPUs' }),
  name: z.string(),
  uuid: z.string(),
  /** PCI, for example `0000:17:00.0`. */
  busId: z.string(),
  numaNode: z.int().nullable(),
  state: shown(
    z.enum(GPU_STATES).meta({
      description:
        'lost: it faulted or hangs and gets no image until its worker starts anew; failed_check: a model, whose ' +
        '`reason` in `GET /v1/models` says why, does not run on it',
    }),
    {
      name: 'lattice_gpu_usable',
      help: '1 while all loaded models run on it, 0 when it is lost or failed a self-check; the cluster status says which.',
      of: (state) => (state === 'ok' ? 1 : 0),
    },
  ),
  ...gpuFiguresSchema.shape,
  sampleAgeSeconds: shown(
    figure.meta({ description: 'Age of the figures; null before the first' }),
    { name: 'lattice_gpu_sample_age_seconds', help: 'Age of the other figures.' },
  ),
  reason: z
    .string()
    .nullable()
    .meta({ description: 'Why figures are unknown or old; null when all is well' }),
});

/** A reading in the status of the cluster, with the machine of the GPU. */
export const nodeGpuSchema = z.object({ nodeId: z.string(), ...gpuReadingSchema.shape });

export type GpuFigures = z.infer<typeof gpuFiguresSchema>;
export type GpuReading = z.infer<typeof gpuReadingSchema>;
export type NodeGpu = z.infer<typeof nodeGpuSchema>;
export type GpuState = GpuReading['state'];

/** Each metric, and how it reads a GPU; null leaves the GPU out. */
export const GPU_METRICS: readonly (Pick<Metric, 'name' | 'help' | 'kind'> & {
  read: (gpu: GpuReading) => number | null;
})[] = [
  ...Object.entries(gpuReadingSchema.shape).flatMap(([field, schema]) => {
    const metric = metrics.get(schema);
    if (metric === undefined) return [];
    const { of = Number } = metric;
    const read = (gpu: GpuReading) => {
      const value: unknown = gpu[field as keyof GpuReading];
      return value === null ? null : of(value);
    };
    return [{ ...metric, read }];
  }),
  {
    name: 'lattice_gpu_up',
    help: '1 while the driver tells about this GPU, else 0; the cluster status says why.',
    read: ({ reason }) => (reason === null ? 1 : 0),
  },
];
