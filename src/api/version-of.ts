import type { NamedVersion } from './schemas/model.js';

/**
 * The version that a result or a description names. Null if it lacks the digest or the precision, for example while
 * nothing is loaded.
 */
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
