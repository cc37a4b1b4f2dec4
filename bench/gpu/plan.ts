/** The models, photos and repetitions of one run: made by the command, read by every question. */
import { existsSync, readdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import type { PhotoSize } from './photos.js';

export interface PlannedModel {
  /** File name without its ending. */
  name: string;
  file: string;
  size: ModelSize;
  /** Its weights are arbitrary: it takes the right time, and its boxes have no meaning. */
  layoutOnly?: boolean;
}

export const MODEL_SIZES = ['n', 's', 'm', 'l', 'x'] as const;
export type ModelSize = (typeof MODEL_SIZES)[number];

export interface Effort {
  /** How often the sides of a ratio take turns. */
  rounds: number;
  /** Latencies of each side in a round. */
  samples: number;
  /** Images of a throughput round. */
  images: number;
  /** Length of a load in the open loop. */
  seconds: number;
  /** Images of the memory question. */
  long: number;
  /** Runs of one image that must give the same boxes. */
  repeats: number;
  /** Photos of each size. */
  photos: number;
}

export interface Plan {
  device: 'cpu' | 'cuda';
  threads: number;
  models: PlannedModel[];
  /** Its network takes hardly any time: what is left is decoding. */
  tinyModel: string;
  /** Folder of built engines. */
  engineCache: string;
  /** Batch sizes of the engines. */
  gpuBatches: number[];
  photoRoot: string;
  photos: PhotoSize[];
  effort: Effort;
}

export const EFFORTS: Record<'dry' | 'simulated' | 'quick' | 'full', Effort> = {
  dry: { rounds: 2, samples: 2, images: 4, seconds: 0.3, long: 16, repeats: 12, photos: 1 },
  // Simulated GPUs take a core hundreds of times as long.
  simulated: { rounds: 2, samples: 2, images: 64, seconds: 1, long: 160, repeats: 96, photos: 2 },
  quick: {
    rounds: 3,
    samples: 100,
    images: 2_000,
    seconds: 2,
    long: 200_000,
    repeats: 10_000,
    photos: 4,
  },
  full: {
    rounds: 5,
    samples: 400,
    images: 10_000,
    seconds: 5,
    long: 200_000,
    repeats: 10_000,
    photos: 4,
  },
};

/** Detectors of the folders, by the size letter at the end of their names; `notes` name the other files. */
export function findModels(folders: readonly string[]): {
  models: PlannedModel[];
  notes: string[];
} {
  const models: PlannedModel[] = [];
  const passedOver: string[] = [];
  for (const folder of folders) {
    if (!existsSync(folder)) continue;
    for (const entry of readdirSync(folder).sort()) {
      if (!entry.endsWith('.onnx')) continue;
      const name = basename(entry, '.onnx');
      const size = /(?:^|[^a-z])([nsmlx])$/.exec(name)?.[1] as ModelSize | undefined;
      if (size === undefined) passedOver.push(entry);
      else if (!models.some((other) => other.name === name)) {
        models.push({ name, file: join(folder, entry), size });
      }
    }
  }
  sortBySize(models);
  const notes =
    passedOver.length === 0
      ? []
      : [`Left out, since no size n, s, m, l or x ends their names: ${passedOver.join(', ')}.`];
  return { models, notes };
}

export function sortBySize(models: PlannedModel[]): void {
  models.sort((a, b) => MODEL_SIZES.indexOf(a.size) - MODEL_SIZES.indexOf(b.size));
}

/** The model of the questions about one model: the first of the smallest size. */
export function mainModel(plan: Plan): PlannedModel {
  return plan.models[0]!;
}
