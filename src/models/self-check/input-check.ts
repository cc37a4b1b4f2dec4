/** The self-check of a model that has several inputs: its picture as a whole goes through one of them only. */
import type { NativeModel } from '../../native/contract.js';
import { judgePart, type KnownPicture } from './model-check.js';
import type { Detection } from '../../contract/image-result.js';
import { partOfShape } from './picture-part.js';

/** What is wrong at one of the inputs, each with the part of the picture that it takes; null where nothing is. */
export async function faultOfInputs(
  { inputWidth, inputHeight, rectangles }: NativeModel,
  known: KnownPicture,
  look: (picture: KnownPicture['picture']) => Promise<Detection[]>,
): Promise<string | null> {
  if (rectangles.length === 0) return null;
  for (const input of [{ width: inputWidth, height: inputHeight }, ...rectangles]) {
    const part = partOfShape(known, input);
    const fault = judgePart(await look(part.picture), part.boxes);
    if (fault !== null) return `at ${input.width} x ${input.height} ${fault}`;
  }
  return null;
}
