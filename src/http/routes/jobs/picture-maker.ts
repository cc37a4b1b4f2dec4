/** Makes pictures of the images of a job, from the image roots or from its upload. */
import type { FoundBoxes, PictureLook } from '../../../annotate/picture-copies.js';
import type { HideFolders } from '../../../answers/shown-problem.js';
import { LatticeError, refuseWhileStopping } from '../../../api/errors.js';
import type { Detection } from '../../../api/schemas/image.js';
import type { MadePictures, PictureSource } from '../../../export/pictures.js';
import type { Job } from '../../../store/job.js';
import type { RouteParts } from '../../route-parts.js';

type Parts = Pick<RouteParts, 'uploads' | 'hide' | 'annotator' | 'draining'>;

/** Rejects with `shutting_down`, and with what is no fault of the image. */
type MakePictures = (
  imagePath: string,
  found: FoundBoxes,
  look: PictureLook,
) => Promise<MadePictures>;

function pictureMaker(
  { spec: { upload } }: Job,
  { uploads, hide, annotator, draining }: Parts,
): MakePictures {
  const make = async (...[path, found, look]: Parameters<MakePictures>) => {
    if (upload === undefined) return annotator.pictures(path, found, look);
    const picture = await uploads.borrow(upload, path);
    return annotator.pictures(picture.bytes, found, look).finally(() => {
      picture.release();
    });
  };
  return async (...picture) => {
    refuseWhileStopping({ draining });
    return madePictures(make(...picture), hide);
  };
}

/** Rejects with what is no fault of the image. */
export async function madePictures(
  making: Promise<readonly Uint8Array[]>,
  hide: HideFolders,
): Promise<MadePictures> {
  try {
    return { jpegs: await making };
  } catch (error) {
    if (!(error instanceof LatticeError) || error.code === 'shutting_down') throw error;
    return { leftOut: hide(error.message) };
  }
}

export interface ChosenPictures {
  look: PictureLook;
  isShown: (box: Detection) => boolean;
}

export function pictureSource(
  job: Job,
  images: Pick<PictureSource, 'pages' | 'fileName'>,
  { look, isShown }: ChosenPictures,
  parts: Parts,
): PictureSource {
  const make = pictureMaker(job, parts);
  return { ...images, look, isShown, make: (path, found) => make(path, found, look) };
}

/** A drawn picture, with `most` no side of which is longer, or in words why not. Rejects as `MakePictures`. */
type DrawPicture = (
  imagePath: string,
  boxes: readonly Detection[],
  most?: number,
) => Promise<{ jpeg: Uint8Array } | { leftOut: string }>;

export function pictureDrawer(job: Job, parts: Parts): DrawPicture {
  const make = pictureMaker(job, parts);
  return async (path, detections, most) => {
    const look: PictureLook = { kind: 'drawn', ...(most !== undefined && { most }) };
    const made = await make(path, { detections }, look);
    return 'leftOut' in made ? made : { jpeg: made.jpegs[0] ?? new Uint8Array() };
  };
}
