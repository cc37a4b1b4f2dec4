/**
 * The self-check of a model that has several inputs: its picture as a whole goes through one of them only. One network
 * serves them all, so one that is not the model's own stands for the others.
 */
import type { NativeInputSize, NativeModel } from '../../native/contract.js';
import { judgePart, type KnownPicture } from './model-check.js';
import type { Detection } from '../../api/image.js';
import { partOfShape } from './picture-part.js';

/** What is wrong at two of the inputs, each with the part of the picture that it takes; null where nothing is. */
export async function faultOfInputs(
  model: NativeModel,
  known: KnownPicture,
  look: (picture: KnownPicture['picture']) => Promise<Detection[]>,
): Promise<string | null> {
  const rectangle = largestRectangle(model);
  if (rectangle === null) return null;
  for (const input of [{ width: model.inputWidth, height: model.inputHeight }, rectangle]) {
    const part = partOfShape(known, input);
    const fault = judgePart(await look(part.picture), part.boxes, model.suppresses);
    if (fault !== null) return `at ${input.width} x ${input.height} ${fault}`;
  }
  return null;
}

/** Where the most of the picture is seen; null for a model with one input. */
function largestRectangle({
  inputWidth,
  inputHeight,
  stride,
  anyRectangle,
  rectangles,
}: NativeModel): NativeInputSize | null {
  if (!anyRectangle) return rectangles.at(-1) ?? null;
  // 3:4, as many photos; whole strides.
  const height = Math.ceil((0.75 * inputHeight) / stride) * stride;
  return height < inputHeight ? { width: inputWidth, height } : null;
}
