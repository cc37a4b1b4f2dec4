/** Descriptors of boxes as a job keeps them: those of the first boxes that the network found, in their order. */
import type { Detection } from '../api/schemas/image.js';

/** See `descriptorDistance`. */
const DESCRIPTOR_BYTES = 64;

/** A box with its descriptor in hexadecimal; absent where it has none. */
export type DescribedBox = Detection & { descriptor?: string };

/** Boxes that were chosen among those that were `found`, in any order, with their descriptors out of `packed`. */
export function describedBoxes(
  boxes: readonly Detection[],
  found: readonly Detection[],
  packed: Uint8Array | null,
): DescribedBox[] {
  if (packed === null) return [...boxes];
  const text = Buffer.from(packed.buffer, packed.byteOffset, packed.byteLength).toString('hex');
  const length = 2 * DESCRIPTOR_BYTES;
  // Whatever is made of a box, it keeps its corners.
  const places = new Map(found.map(({ box }, at) => [box, at]));
  return boxes.map((box) => {
    const at = places.get(box.box);
    const descriptor = at === undefined ? '' : text.slice(length * at, length * (at + 1));
    return descriptor === '' ? box : { ...box, descriptor };
  });
}
