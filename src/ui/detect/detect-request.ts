/** What the detect view asks for: everything that the slider may want to show. */
import type { DetectRequest } from '../../client/records.js';

/** Asked once; the page shows what is above its own threshold. */
export const ASKED_CONFIDENCE = 0.1;

/** A path on the service's volume, or a picture that is sent. */
export type Source = { kind: 'path'; path: string } | { kind: 'file'; file: File };

export interface DetectChoice {
  /** Empty: the default one. */
  model: string;
  /** Empty: those that a request without classes gets. */
  classes: readonly string[];
  threshold: number;
}

/** Fields that are not chosen are left out. */
export function detectFields({
  model,
  classes,
  threshold,
}: DetectChoice): Omit<DetectRequest, 'image_path'> {
  return {
    ...(model === '' ? {} : { model_name: model }),
    ...(classes.length === 0 ? {} : { classes: [...classes] }),
    confidence_threshold: threshold,
  };
}

export function sourceName(source: Source): string {
  return source.kind === 'path' ? source.path : source.file.name;
}
