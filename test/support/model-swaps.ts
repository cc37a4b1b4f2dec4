/** Sync load and a job on one model while its file is replaced, and what each answer has to be. */
import { renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { OWN_CLASSES, ownModel } from './own-model.js';
import { call, detect, post } from './service-client.js';

const CLASSES = {
  first: OWN_CLASSES,
  second: ['auto', 'moto', 'coach', 'truck'],
  third: ['wagon', 'scooter', 'tram', 'cart'],
};
const NAME = 'yolov8n';

export type Step = keyof typeof CLASSES | 'bad' | 'removed';

/** Good ones, other classes, damaged ones, and the file removed: then the bundled model answers. */
export const TEN_STEPS: readonly Step[] = [
  ...(['second', 'bad', 'third', 'removed', 'first'] as const),
  ...(['second', 'bad', 'removed', 'third', 'first'] as const),
];

/** Puts a model into the place of the default one, as `lattice model add` does; `of` as of `ownModel`. */
export function take(folder: string, step: Step, of?: string): void {
  const path = join(folder, `${NAME}.onnx`);
  if (step === 'removed') {
    rmSync(path);
    return;
  }
  const bytes = step === 'bad' ? 'no network' : ownModel(CLASSES[step], of);
  writeFileSync(`${path}.part`, bytes);
  renameSync(`${path}.part`, path);
}

interface Answered {
  model_digest: string;
  detections: { class: string }[];
}

/** Classes of the boxes by digest: of one digest they must be those of one model. */
export class Consistency {
  readonly byDigest = new Map<string, Set<string>>();
  readonly faults: string[] = [];

  add({ model_digest: digest, detections }: Answered): void {
    const seen = this.byDigest.get(digest) ?? new Set();
    this.byDigest.set(digest, seen);
    for (const found of detections) seen.add(found.class);
  }

  /** The digests whose boxes are of no model, or of several. */
  get mixed(): string[] {
    const whole = Object.values(CLASSES);
    const bundled = ['car', 'motorcycle', 'bus', 'truck'];
    return [...this.byDigest].flatMap(([digest, seen]) =>
      [...whole, bundled].some((classes) => [...seen].every((each) => classes.includes(each)))
        ? []
        : [`${digest}: ${[...seen].join()}`],
    );
  }
}

export interface Sample {
  at: number;
  ms: number;
}

/** Asks with so many requests at a time until `stop` is aborted; a caller waits `pauseMs` before its next request. */
export async function load(
  url: string,
  callers: number,
  stop: AbortSignal,
  consistency: Consistency,
  { image = 'shapes.png', pauseMs = 0 } = {},
): Promise<Sample[]> {
  const samples: Sample[] = [];
  const caller = async () => {
    while (!stop.aborted) {
      const at = performance.now();
      const { status, body, text } = await detect(url, { classes: ['*'], image_path: image });
      samples.push({ at, ms: performance.now() - at });
      if (status === 200) consistency.add(body as unknown as Answered);
      else consistency.faults.push(`${status} ${text}`);
      if (pauseMs > 0) await sleep(pauseMs);
    }
  };
  await Promise.all(Array.from({ length: callers }, caller));
  return samples;
}

export async function submitMany(
  url: string,
  images: number,
  { image = 'shapes.png', ...fields }: { image?: string; model_name?: string } = {},
): Promise<string> {
  const image_paths = Array.from({ length: images }, () => image);
  const job = { job_type: 'batch_detect', image_paths, classes: ['*'], ...fields };
  const { status, body } = await post(url, '/v1/jobs/submit', job);
  if (status !== 202) throw new Error(`The job was refused: ${status}.`);
  return body.job_id;
}

export async function describedDefault(url: string) {
  const { body } = await call(url, '/v1/models');
  return (body.models as { name: string; digest: string; reason: string | null }[])[0];
}
