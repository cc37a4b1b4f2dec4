/** Copies in 8 bits as `lattice model quantize` leaves them: the bundled one, made out to be of another file. */
import { createHash } from 'node:crypto';
import { copyFileSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { PACKAGE_ROOT } from '../../src/base/package.js';
import { appendMetadata } from '../../src/cli/model/append-metadata.js';
import { eightBitPath, PROOF_KEY, type EightBitProof } from '../../src/models/eight-bit-copy.js';

export const BUNDLED_COPY = join(PACKAGE_ROOT, 'models', 'vehicles-v8n.int8.onnx');
export const PROVEN: EightBitProof = { photos: 10, f32: 0.5, int8: 0.499 };

/** Returns its path. `proof` null: it was never compared on labelled photos. */
export async function makeEightBitCopy(
  original: string,
  proof: EightBitProof | null = PROVEN,
): Promise<string> {
  const path = eightBitPath(original);
  copyFileSync(BUNDLED_COPY, path);
  const digest = createHash('sha256').update(readFileSync(original)).digest('hex');
  await appendMetadata(path, 'quantized_from', digest);
  await appendMetadata(path, PROOF_KEY, proof === null ? '' : JSON.stringify(proof));
  return path;
}
