import type { Detection, ImageSize } from '../../src/api/schemas/image.js';
import type { FoundBoxes } from '../../src/boxes/found-boxes.js';

/** All boxes that a network has found in a picture. */
export const foundIn = (
  image: ImageSize,
  detections: Detection[],
  more: Partial<FoundBoxes> = {},
): FoundBoxes => ({ detections, floor: 0, isCut: false, lacksVehicles: false, image, ...more });
