/**
 * GeoJSON (RFC 7946): a point for each image that says where it was taken. The other images are left out;
 * `images_without_position` and `failed_images` count them.
 */
import { rounded } from '../base/rounded.js';
import type { ExportSource, ProcessedEntry } from './export-source.js';
import { jsonArray } from './json-array.js';

export async function* writeGeojson(source: ExportSource): AsyncGenerator<string, void> {
  const { jobId, model } = source;
  let without = 0;
  const failed = yield* jsonArray(source, '{"type":"FeatureCollection",\n"features":', (image) => {
    const { latitude, longitude } = image;
    if (latitude !== undefined && longitude !== undefined) {
      return [featureOf(image, [longitude, latitude])];
    }
    without += 1;
    return [];
  });
  const counts = { images_without_position: without, failed_images: failed };
  yield `,\n${JSON.stringify({ job_id: jobId, model, ...counts }).slice(1)}\n`;
}

function featureOf(image: ProcessedEntry, coordinates: readonly [number, number]): object {
  const { image_path, taken_at, detections, car_count, class_counts, model_digest } = image;
  return {
    type: 'Feature',
    geometry: { type: 'Point', coordinates },
    properties: {
      image_path,
      taken_at,
      car_count,
      total_count: detections.length,
      class_counts,
      image: image.image,
      boxes: detections.map(({ class: name, confidence, box }) => ({
        class: name,
        confidence: rounded(confidence, 6),
        box: box.map((side) => rounded(side, 3)),
      })),
      model_digest,
    },
  };
}
