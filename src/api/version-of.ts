import type { NamedVersion } from './schemas/model.js';

/** As results and descriptions name it; null where they say too little, as while nothing is loaded. */
export function versionOf({ name, digest, precision, quantizedFrom }: Told): NamedVersion | null {
  if (!digest || !precision) return null;
  return { name, digest, precision, source: quantizedFrom ?? digest };
}

interface Told {
  name: string;
  digest: string | null | undefined;
  precision?: string | null | undefined;
  quantizedFrom?: string | null | undefined;
}
