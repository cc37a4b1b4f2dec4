/** Draws boxes into the pictures of a job, from the image roots or from its upload. */
import { LatticeError, refuseWhileStopping } from '../../../api/errors.js';
import type { Detection } from '../../../api/schemas/image.js';
import type { Job } from '../../../store/job.js';
import type { RouteParts } from '../../route-parts.js';

/**
 * The JPEG, with `most` no side of which is longer, or in words why there is none. Rejects with `shutting_down`, and
 * with what is no fault of the picture.
 */
type DrawPicture = (
  imagePath: string,
  boxes: readonly Detection[],
  most?: number,
) => Promise<{ jpeg: Uint8Array } | { leftOut: string }>;

export function pictureDrawer(
  { spec: { upload } }: Job,
  {
    uploads,
    hide,
    annotator,
    draining,
  }: Pick<RouteParts, 'uploads' | 'hide' | 'annotator' | 'draining'>,
): DrawPicture {
  const draw = async (...[path, boxes, most]: Parameters<DrawPicture>) => {
    if (upload === undefined) return annotator.draw(path, boxes, most);
    const picture = await uploads.borrow(upload, path);
    return annotator.draw(picture.bytes, boxes, most).finally(() => {
      picture.release();
    });
  };
  return async (...picture) => {
    refuseWhileStopping({ draining });
    try {
      return { jpeg: await draw(...picture) };
    } catch (error) {
      if (!(error instanceof LatticeError) || error.code === 'shutting_down') throw error;
      return { leftOut: hide(error.message) };
    }
  };
}
