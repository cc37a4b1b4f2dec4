/** `GET /v1/places`: where vehicles stood in the pictures of cameras, over the jobs of a watch or a tag. */
import { z } from '@hono/zod-openapi';
import { MOST_REGION_NAME } from '../../api/region-rules.js';
import { detectionSchema, imageSizeSchema } from '../../api/schemas/image.js';
import { PLACE_RULES } from '../../cameras/place-tracker.js';
import { textOf } from '../../store/cameras/camera-pictures.js';
import type { PlaceRow } from '../../store/cameras/place-rows.js';
import type { HideFolders } from '../../answers/shown-problem.js';
import { imageNameSchema, toWireName } from '../../answers/image-name.js';
import { csvHeadersShape, formatSchema, replyCsv } from '../answer/csv.js';
import { replyJson } from '../answer/reply.js';
import { readQuery } from '../request/query.js';
import type { AddRoute } from '../route.js';
import type { RouteParts } from '../route-parts.js';
import {
  figuresShape,
  refuseUnknownWatch,
  scopeBodyShape,
  scopeOf,
  scopeShape,
  toWireFigures,
  toWireScope,
} from './count-scope.js';
import { cameraRule, cameraShape } from './jobs/count-texts.js';
import { askedRequest, questionShape } from './jobs/question.js';
import { placesFile } from './places-file.js';

export const placesQuerySchema = z.strictObject({
  ...scopeShape,
  ...cameraShape,
  region: z
    .string()
    .min(1)
    .max(MOST_REGION_NAME)
    .optional()
    .openapi({ description: 'Places in this region', example: 'bay 3' }),
  occupied: z
    .stringbool({
      truthy: ['true'],
      falsy: ['false'],
      case: 'sensitive',
      error: 'occupied is true or false.',
    })
    .optional()
    .openapi({
      type: 'boolean',
      description:
        'Places in which a vehicle stands in the last image of their camera, or in which none does',
    }),
  format: formatSchema,
});

type PlacesQuery = z.output<typeof placesQuerySchema>;

const staySchema = z
  .object({
    since: z.string().openapi({ example: '2025-11-26T14:02:00' }),
    last_seen: z.string().openapi({ example: '2025-11-26T17:30:00' }),
    images: z.int().openapi({ description: 'That show the vehicle' }),
  })
  .openapi('Stay');

const placeSchema = z
  .object({
    camera: z.string().nullable().openapi({
      description:
        'The folder of the images, with `camera=name` also a part of their names; null with `camera=all`',
    }),
    place: z.int().openapi({ description: 'Its number within the camera, in this answer' }),
    regions: z.array(z.string()).openapi({
      description:
        'The counted regions that the surest box lies in, of the question of its image; empty where that has none',
    }),
    class: detectionSchema.shape.class,
    confidence: detectionSchema.shape.confidence,
    box: detectionSchema.shape.box,
    image: imageSizeSchema,
    best_image: z.union([imageNameSchema, z.null()]).openapi({
      description:
        'The image with the surest box in the place, which `class`, `confidence`, `box` and `image` are of; null where its job was removed meanwhile',
    }),
    images: z.int().openapi({ description: 'Images of the camera since the first one of it' }),
    seen_images: z.int().openapi({ description: 'Of these, with a vehicle in it' }),
    occupied: z.boolean().openapi({
      description: 'A vehicle stands there in the last image: the last stay goes on',
    }),
    stays: z.array(staySchema).openapi({ description: 'The last ones, oldest first' }),
    older_stays: z.int().openapi({ description: 'Stays before those, which are not listed' }),
    dismissal: z.int().nullable().openapi({
      description: 'The number of the dismissal that leaves its boxes out of counts; null: none',
    }),
  })
  .openapi('Place');

const placesSchema = z
  .object({
    ...scopeBodyShape,
    ...figuresShape,
    places: z
      .array(placeSchema)
      .openapi({ description: 'By camera. Those whose surest box lies in a mask are left out' }),
  })
  .openapi('Places');

export type PlacesBody = z.infer<typeof placesSchema>;

export function placeRoutes(route: AddRoute, parts: RouteParts): void {
  const { hide, jobs, logger } = parts;
  route(
    {
      method: 'get',
      path: '/v1/places',
      operationId: 'getPlaces',
      summary: 'Places in which vehicles stood, over the jobs of a watch or a tag',
      description:
        'A place is where a vehicle stood: boxes of one class group that lie over one another in several images of a camera, ' +
        'over minutes. Another vehicle in it is another stay. They are found anew each time, from the images of stored jobs ' +
        'in the order of their times; images without a time are left out. Times are those of the clock on the wall. A CSV ' +
        'file has a line for each stay, also for those that `older_stays` counts.',
      tags: ['Jobs'],
      request: { query: placesQuerySchema.extend(questionShape) },
      answers: {
        200: {
          description: 'The places',
          headers: z.object(csvHeadersShape('north-gate.places.csv')),
          content: {
            'application/json': { schema: placesSchema },
            'text/csv': { schema: z.string() },
          },
        },
      },
      errors: ['watch_not_found', 'view_not_found', 'needs_new_run', 'storage_unavailable'],
    },
    async (c) => {
      const { query, question } = askedRequest(c);
      const read = readQuery(placesQuerySchema, query);
      const keyId = c.get('keyId');
      const scope = scopeOf(read, keyId);
      const camera = cameraRule(read);
      const found = await jobs.placesOf(scope, camera, await question(parts), keyId);
      await refuseUnknownWatch(parts, read.watch, found, keyId);
      const places = found.places.filter((place) => isAsked(place, read));
      if (read.format === 'csv') {
        const onBroken = (error: unknown): void => {
          logger.error({ err: error, request_id: c.get('requestId') }, 'places broken off');
        };
        return replyCsv(c, placesFile(places, read.watch ?? 'tag', hide), onBroken);
      }
      const body: PlacesBody = {
        ...toWireScope(read),
        ...toWireFigures(found),
        places: places.map((place) => toWire(place, hide)),
      };
      return replyJson(c, 200, body);
    },
  );
}

function isAsked({ regions, isOccupied }: PlaceRow, { region, occupied }: PlacesQuery): boolean {
  if (region !== undefined && !regions.includes(region)) return false;
  return occupied === undefined || occupied === isOccupied;
}

function toWire(place: PlaceRow, hide: HideFolders): PlacesBody['places'][number] {
  const listed = place.stays.slice(-PLACE_RULES.mostStays);
  return {
    camera: place.camera === null ? null : hide(place.camera),
    place: place.place,
    regions: place.regions,
    ...place.best,
    image: place.size,
    best_image: toWireName(place.image, hide),
    images: place.pictures,
    seen_images: place.seen,
    occupied: place.isOccupied,
    stays: listed.map(({ since, lastSeen, seen }) => ({
      since: textOf(since),
      last_seen: textOf(lastSeen),
      images: seen,
    })),
    older_stays: place.stays.length - listed.length,
    dismissal: place.dismissal,
  };
}
