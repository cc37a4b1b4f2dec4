/** Finds workers that have different files for a model: two files give two results for one picture. */
import type { Worker } from './worker.js';

/** Model name -> digest of a file. */
export type ModelDigests = Readonly<Record<string, string>>;

interface Load {
  worker: Pick<Worker, 'leaving' | 'modelDigests'>;
}

/**
 * The workers that run this model's images: those with the service's own file; where none has it, those with the file
 * that most of them have; all where no worker reports one.
 */
export function withSameModel<L extends Load>(
  loads: readonly L[],
  modelName: string,
  wanted: string | undefined,
): readonly L[] {
  if (loads.length < 2) return loads;
  const counts = new Map<string, number>();
  for (const { worker } of loads) {
    const digest = worker.modelDigests?.[modelName];
    if (digest !== undefined && !worker.leaving) counts.set(digest, (counts.get(digest) ?? 0) + 1);
  }
  if (counts.size === 0) return loads;
  const [most] = [...counts].sort(([, one], [, other]) => other - one);
  const chosen = wanted !== undefined && counts.has(wanted) ? wanted : most?.[0];
  const same = loads.filter(
    ({ worker }) => worker.modelDigests === undefined || worker.modelDigests[modelName] === chosen,
  );
  return same.length === loads.length ? loads : same;
}

const COPY_IT = ": copy the service's file to this node.";

/** A sentence per model of the service that the worker lacks or has in another file. */
export function modelFaults(found: ModelDigests | undefined, wanted: ModelDigests): string[] {
  if (found === undefined) return [];
  return Object.entries(wanted).flatMap(([name, digest]) => {
    const other = found[name];
    if (other === digest) return [];
    if (other === undefined) return [`${name} is missing${COPY_IT}`];
    return [`${name} is another file (${other}) than that of the service (${digest})${COPY_IT}`];
  });
}
