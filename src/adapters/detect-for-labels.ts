/** Detection for people who label: all classes of a model, above a threshold of the call or its own. */
import type { ImageResult } from '../api/schemas/image.js';
import { DEFAULT_PARAMETERS } from '../api/options.js';
import type { DetectRequest } from '../execution/detector.js';
import type { AppContext } from '../http/app-env.js';
import type { RouteParts } from '../http/route-parts.js';
import { detect } from '../http/routes/detect.js';

/** Label Studio waits 100 s, CVAT 120 s. */
const DEADLINE_MS = 90_000;

/**
 * The picture waits among those of jobs: a refused call would end the annotation of a whole task. Rejects as `detect`.
 */
export async function detectForLabels(
  c: AppContext,
  parts: RouteParts,
  picture: Pick<DetectRequest, 'path' | 'image'>,
  modelName: string,
  threshold?: number | null,
): Promise<ImageResult> {
  const confidence = threshold ?? (await parts.catalogue.defaultsOf(modelName)).confidence;
  const options = { ...DEFAULT_PARAMETERS, modelName, classes: null, confidence };
  return detect(c, parts, { ...picture, options, kind: 'async', deadlineMs: DEADLINE_MS });
}
