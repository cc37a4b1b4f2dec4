/** What is shown of a job's images. */
import { classCounts } from '../text/format.js';
import type {
  ImageEntry,
  ImageFields,
  JobResult,
  SingleImageResult,
} from '../../client/records.js';

export function imageSummary(image: ImageFields): string {
  const { width, height } = image.image;
  const found = `${image.total_count} found: ${classCounts(image.class_counts)}`;
  const cut = image.truncated ? ', cut at the most detections allowed' : '';
  return `${found}${cut}. ${width} × ${height} pixels.`;
}

export interface ImageRow {
  path: string;
  outcome: string;
}

/** The first `count` images of a result, and what they come to. */
export function resultSummary(
  { result }: JobResult,
  count: number,
): { summary: string; rows: ImageRow[] } {
  if (result === null) return { summary: 'No image gave boxes.', rows: [] };
  if (!('images' in result)) return { summary: imageSummary(result), rows: [imageRow(result)] };
  const { images, succeeded, failed } = result;
  const left = images.length > count ? ` The first ${count} of ${images.length} images:` : '';
  return {
    summary: `${succeeded} images done, ${failed} failed; ${result.total_count} found: ${classCounts(result.class_counts)}.${left}`,
    rows: images.slice(0, count).map(imageRow),
  };
}

function imageRow(image: SingleImageResult | ImageEntry): ImageRow {
  const path = image.image_path;
  if ('detections' in image) return { path, outcome: classCounts(image.class_counts) };
  const { title, detail, code } = image.error;
  return { path, outcome: `${title}: ${detail} (${code})` };
}
