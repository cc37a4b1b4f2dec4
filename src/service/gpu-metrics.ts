/** Figures of the GPUs; a service without one shows none. */
import { Counter, Gauge, type Registry } from 'prom-client';
import type { NodeGpu } from '../execution/worker-stats.js';

const LABELS = ['node', 'gpu', 'uuid'] as const;

interface Figure {
  name: string;
  help: string;
  kind?: 'counter';
  /** Null leaves the series out. */
  of(gpu: NodeGpu): number | null;
}

const times = (value: number | null, factor: number) => (value === null ? null : value * factor);

const FIGURES: readonly Figure[] = [
  {
    name: 'lattice_gpu_memory_total_bytes',
    help: 'Memory of the GPU.',
    of: (gpu) => gpu.memoryTotal,
  },
  {
    name: 'lattice_gpu_memory_used_bytes',
    help: 'Memory in use by all processes and the driver.',
    of: (gpu) => gpu.memoryUsed,
  },
  {
    name: 'lattice_gpu_utilisation_ratio',
    help: 'Share of time, 0 to 1, in which a kernel ran.',
    of: (gpu) => times(gpu.utilisation, 0.01),
  },
  {
    name: 'lattice_gpu_temperature_celsius',
    help: 'Temperature of the chip.',
    of: (gpu) => gpu.temperature,
  },
  { name: 'lattice_gpu_power_watts', help: 'Power drawn.', of: (gpu) => gpu.power },
  {
    name: 'lattice_gpu_power_limit_watts',
    help: 'Power that the GPU is held to.',
    of: (gpu) => gpu.powerLimit,
  },
  {
    name: 'lattice_gpu_sm_clock_hertz',
    help: 'Clock of the multiprocessors.',
    of: (gpu) => times(gpu.smClockMhz, 1e6),
  },
  {
    name: 'lattice_gpu_uncorrected_memory_errors_total',
    kind: 'counter',
    help: 'Memory errors that could not be corrected, since the driver was loaded.',
    of: (gpu) => gpu.uncorrectedErrors,
  },
  {
    name: 'lattice_gpu_slowdown_reasons',
    help: 'Reasons for which the clocks are held down now; the cluster status names them.',
    of: (gpu) => gpu.slowedBy.length,
  },
  {
    name: 'lattice_gpu_sample_age_seconds',
    help: 'Age of the other figures.',
    of: (gpu) => times(gpu.ageMs, 0.001),
  },
  {
    name: 'lattice_gpu_usable',
    help: '1 while all loaded models run on it, 0 when it is lost or failed a self-check; the cluster status says which.',
    of: (gpu) => (gpu.state === 'ok' ? 1 : 0),
  },
  {
    name: 'lattice_gpu_up',
    help: '1 while the driver tells about this GPU, else 0; the cluster status says why.',
    of: (gpu) => (gpu.reason === null ? 1 : 0),
  },
];

type Label = (typeof LABELS)[number];

interface Shown {
  metric: Gauge<Label> | Counter<Label>;
  figure: Figure;
}

export class GpuMetrics {
  private readonly registry: Registry;
  private readonly read: () => readonly NodeGpu[];
  private shown: Shown[] = [];

  constructor(registry: Registry, read: () => readonly NodeGpu[]) {
    this.registry = registry;
    this.read = read;
  }

  /** To be called before the registry is shown. */
  refresh(): void {
    const gpus = this.readable();
    if (gpus.length > 0 && this.shown.length === 0) this.register();
    for (const { metric, figure } of this.shown) {
      // From nothing to the value: what a counter counted here, the driver counted.
      metric.reset();
      for (const gpu of gpus) {
        const value = figure.of(gpu);
        if (value === null) continue;
        metric.inc({ node: gpu.nodeId, gpu: String(gpu.index), uuid: gpu.uuid }, value);
      }
    }
  }

  private readable(): readonly NodeGpu[] {
    try {
      return this.read();
    } catch {
      return []; // as the other sources: what cannot be read must not hide the rest
    }
  }

  private register(): void {
    this.shown = FIGURES.map((figure) => {
      const { name, help, kind } = figure;
      const options = { name, help, labelNames: LABELS, registers: [this.registry] };
      return { metric: kind === 'counter' ? new Counter(options) : new Gauge(options), figure };
    });
  }
}
