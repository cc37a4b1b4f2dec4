/** The confidence threshold that a model brings for requests that name none. */
import { DEFAULT_PARAMETERS } from '../api/options.js';

/** Key in the free metadata of an ONNX file; its value is 0 to 1 as text. */
export const THRESHOLD_KEY = 'lattice.confidence';

/** The threshold of the model; that of the interface if the model has none, or no number from 0 to 1. */
export function thresholdOf(metadata: Readonly<Record<string, string>>): number {
  const text = metadata[THRESHOLD_KEY]?.trim() ?? '';
  const own = text === '' ? NaN : Number(text);
  return own >= 0 && own <= 1 ? own : DEFAULT_PARAMETERS.confidence;
}
