/** One look of a model at a known picture, through the same core that serves requests. */
import type { Core } from '../../native/core.js';
import type { CanaryPicture } from './canary.js';
import type { Detection } from '../../contract/image-result.js';
import type { LoadedModel } from '../loaded-model.js';
import { detectionsFrom } from '../raw-detections.js';

/**
 * Longer than the self-check waits (`canary-watch.ts`), which so finds a device that hangs itself: past a deadline the
 * core answers tasks in hand too, with a code that says nothing about the device. The task is still freed in the end.
 */
const DEADLINE_MS = 120_000;
const MOST_BOXES = 300;

/** All boxes of a bundled picture, whatever their score: the look of the self-check. */
export async function lookAtPicture(
  core: Core,
  id: number,
  model: LoadedModel,
  picture: CanaryPicture,
): Promise<Detection[]> {
  const raw = await core.run({
    id,
    modelId: model.native.modelId,
    path: null,
    pixels: picture,
    kind: 'sync',
    priority: 0,
    deadlineMs: DEADLINE_MS,
    confidence: 0,
    iou: 0.7,
    maxDetections: MOST_BOXES,
    classIds: null,
  });
  return detectionsFrom(raw.boxes, model.native.names);
}
