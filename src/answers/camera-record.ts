/** Cameras of watches and what changes at them, as the interface shows it. */
import { z } from '@hono/zod-openapi';
import { detectionSchema, imageSizeSchema } from '../api/schemas/image.js';
import { snakeCase } from '../api/snake-case.js';
import { FINDING_KINDS } from '../cameras/camera-health.js';
import { textOf } from '../store/cameras/camera-pictures.js';
import type { CameraRecord, ClosedFinding } from '../store/cameras/health-rows.js';
import type { CameraNews } from '../store/job.js';
import { imageNameSchema, toWireName } from './image-name.js';
import { timestampSchema } from './job-fields.js';
import type { HideFolders } from './shown-problem.js';

export const findingKindSchema = z.enum(FINDING_KINDS).openapi('FindingKind', {
  description:
    'covered: dark in hours that are light as a rule, or of one colour; frozen: the same picture again; moved: another ' +
    'view; blurred; late: no picture for much longer than usual; unusual_counts, unusual_confidence: boxes far from ' +
    'those of the same hours before',
});

const wallTimeSchema = z.string().openapi({
  description: 'When a picture was taken, as the clock on the wall showed it, without a zone',
  example: '2025-11-26T14:30:00',
});

const imageOrNull = z.union([imageNameSchema, z.null()]);

const finding = {
  kind: findingKindSchema,
  began: wallTimeSchema,
  image: imageOrNull.openapi({
    description: 'The picture that began it, of a late camera its last one; null: removed',
  }),
};
const openSchema = z
  .object({
    ...finding,
    silenced_until: timestampSchema
      .nullable()
      .openapi({ description: 'Neither events nor webhooks before, in Unix seconds' }),
  })
  .openapi('CameraFinding');
const closedSchema = z.object({ ...finding, ended: wallTimeSchema }).openapi('ClosedCameraFinding');

const cameraWire = snakeCase(
  z.object({
    camera: z.string().openapi({
      description: 'The folder of its pictures, as their paths have it',
      example: 'cameras/north',
    }),
    lastTaken: wallTimeSchema,
    lastImage: imageOrNull.openapi({ description: 'Null once its job is removed' }),
    findings: z.array(openSchema).openapi({ description: 'Open ones' }),
    closed: z
      .array(closedSchema)
      .openapi({ description: 'The last 20 that are over, newest first' }),
  }),
);
export const cameraSchema = z.object(cameraWire.shape).openapi('Camera');
export type CameraBody = z.infer<typeof cameraSchema>;

export function toWireCamera(
  { camera, last, picture, open, closed }: CameraRecord,
  hide: HideFolders,
): CameraBody {
  const toWireFinding = ({ kind, began, image }: ShownFinding) => ({
    kind,
    began: textOf(began),
    image: toWireName(image, hide),
  });
  return cameraWire.toWire({
    camera,
    lastTaken: textOf(last),
    lastImage: toWireName(picture, hide),
    findings: open.map((each) => ({
      ...toWireFinding(each),
      silenced_until: each.silencedUntil,
    })),
    closed: closed.map((each) => ({ ...toWireFinding(each), ended: textOf(each.ended) })),
  });
}

type ShownFinding = Pick<ClosedFinding, 'kind' | 'began'> & { image: CameraRecord['picture'] };

/** Changes at a camera in an event, which says of which job the image is. */
export const findingNewsSchema = z.object({
  camera: z.string(),
  kind: findingKindSchema,
  began: wallTimeSchema,
  index: z.int(),
});
export const placeNewsSchema = z.object({
  camera: z.string(),
  place: z.int().openapi({ description: 'Number of the place, as long as the watch runs' }),
  stay: z.int().openapi({ description: 'Number of the stay, the same when it has ended' }),
  class: z.string(),
  regions: z.array(z.string()).openapi({ description: 'Regions in which the vehicle stands' }),
  box: detectionSchema.shape.box.meta({
    description: 'The vehicle, in pixels of a picture of the size `image`',
  }),
  image: imageSizeSchema,
  since: wallTimeSchema,
  last_seen: wallTimeSchema,
  index: z.int(),
});

export const eventNewsSchema = z.object({
  camera: z.string(),
  first: wallTimeSchema,
  last: wallTimeSchema,
  images: z.int(),
  class_counts: z
    .record(z.string(), z.int())
    .openapi({ description: 'The largest count of each class in one picture' }),
  index: z.int().openapi({ description: 'The picture with the most boxes' }),
});

/** The member of an event that says a change at a camera. */
export interface WireNews {
  camera_event?: z.infer<typeof eventNewsSchema>;
  finding?: z.infer<typeof findingNewsSchema>;
  place?: z.infer<typeof placeNewsSchema>;
}

export function toWireNews(news: CameraNews): WireNews {
  const { camera, index } = news;
  if ('kind' in news) {
    const { kind, began } = news;
    return { finding: { camera, kind, began: textOf(began), index } };
  }
  if (news.change === 'ended') {
    const { first, last, images, classes } = news;
    const span = { first: textOf(first), last: textOf(last) };
    return { camera_event: { camera, ...span, images, class_counts: classes, index } };
  }
  const { place, stay, class: name, regions, box, image, since, lastSeen } = news;
  const span = { since: textOf(since), last_seen: textOf(lastSeen) };
  return { place: { camera, place, stay, class: name, regions, box, image, ...span, index } };
}
