/**
 * The copy of a model in 8 bits: `depot.int8.onnx` beside `depot.onnx`. It names the file that it was made from, and
 * what it loses of that one's mean average precision on labelled photos.
 */
import { z } from 'zod';
import { describeModel, digestModel } from '../native/core.js';

/** How much of the original's mAP50-95 a copy may lose. */
export const MOST_LOST = 0.005;

/** Metadata of the copy: SHA-256 of the original, and the JSON of an `EightBitProof`. */
export const SOURCE_KEY = 'quantized_from';
export const PROOF_KEY = 'int8_proof';

/** mAP50-95, 0 to 1, of both on the same labelled photos. */
const proofSchema = z.object({ photos: z.int().min(1), f32: z.number(), int8: z.number() });
export type EightBitProof = z.infer<typeof proofSchema>;

export interface EightBitCopy {
  path: string;
  /** Null: it was never compared on labelled photos. */
  proof: EightBitProof | null;
}

export const eightBitPath = (path: string): string => path.replace(/\.onnx$/, '.int8.onnx');

/** Null if there is none, or if the original was replaced since. */
export async function findEightBitCopy(original: string): Promise<EightBitCopy | null> {
  const path = eightBitPath(original);
  const copy = await describeModel(path).catch(() => null);
  if (copy === null) return null;
  if (copy.metadata[SOURCE_KEY] !== (await digestModel(original))) return null;
  return { path, proof: proofOf(copy.metadata[PROOF_KEY]) };
}

/** Whether the copy may replace the original without anybody's choice. */
export function isProven({ proof }: Pick<EightBitCopy, 'proof'>): boolean {
  return proof !== null && proof.f32 - proof.int8 <= MOST_LOST;
}

function proofOf(text: string | undefined): EightBitProof | null {
  try {
    return proofSchema.parse(JSON.parse(text ?? ''));
  } catch {
    return null;
  }
}
