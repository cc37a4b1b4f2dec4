/** What came of an image, in the fields of the HTTP interface. */
import type { ImageResult } from '../api/image.js';
import type { Problem } from '../api/errors.js';
import { viewImage } from '../http/answer/processed-image.js';
import type { NamedImage } from './image-paths.js';

export type ImageOutcome =
  | { status: 'ok'; result: ImageResult; annotated: string | undefined }
  | { status: 'error'; error: Problem };

export type ImageEntry = ReturnType<typeof entryOf>;

export function entryOf({ shown }: NamedImage, outcome: ImageOutcome) {
  const { status } = outcome;
  if (status === 'error') return { image_path: shown, status, error: outcome.error };
  const { result, annotated } = outcome;
  return {
    image_path: shown,
    status,
    ...viewImage(result),
    model: result.model,
    ...(annotated === undefined ? {} : { annotated_path: annotated }),
  };
}
