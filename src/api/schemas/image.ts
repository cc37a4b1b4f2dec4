/** The result of the detection of one image. Worker frames, job records and HTTP answers all embed these shapes. */
import { z } from 'zod';
import { fileReadSchema } from './file-read.js';

const staticBoxSchema = z.enum(['yes', 'no', 'unknown']).meta({
  id: 'StaticBox',
  description:
    'Whether it is of a vehicle that stands; `unknown`: it may yet be. Present where `static` was asked for',
});

const stayOfBoxSchema = z
  .object({
    place: z.int().meta({ description: 'Number of the place within its camera' }),
    since: z.string().meta({ description: 'Wall time of the first image with the vehicle in it' }),
    last_seen: z.string().meta({ description: 'Wall time of the last one' }),
  })
  .meta({ id: 'StayOfBox' });
export type StayOfBox = z.infer<typeof stayOfBoxSchema>;

export const detectionSchema = z
  .object({
    box: z.tuple([z.number(), z.number(), z.number(), z.number()]).meta({
      description:
        'x1, y1, x2, y2: pixels of the source image after EXIF orientation, origin top left',
    }),
    confidence: z.number().min(0).max(1),
    class: z.string().meta({ description: "The model's name of the class" }),
    alternative: z
      .object({ class: z.string(), confidence: z.number().min(0).max(1) })
      .optional()
      .meta({
        description: 'What else it may be: the best of the boxes that merge_classes has left out',
      }),
    regions: z
      .array(z.string())
      .optional()
      .meta({ description: 'Names of the regions it lies in; present where there are regions' }),
    static: staticBoxSchema.optional(),
    stay: stayOfBoxSchema.optional().meta({
      description: 'Where and how long the vehicle stands; present where `static` is yes',
    }),
  })
  .meta({
    id: 'Detection',
    example: { box: [48.2, 120.5, 310.9, 287.1], confidence: 0.91, class: 'car' },
  });
export type Detection = z.infer<typeof detectionSchema>;

export const imageSizeSchema = z
  .object({ width: z.int(), height: z.int() })
  .meta({ id: 'ImageSize', description: 'Size after EXIF orientation' });
export type ImageSize = z.infer<typeof imageSizeSchema>;

/** `queue` is all other waiting. A new stage appears in worker frames, answers and metrics by being listed here. */
const timingsSchema = z
  .object({
    queue: z.number(),
    model_load: z
      .number()
      .optional()
      .meta({ description: 'Present if the image waited for its model to be loaded' }),
    decode: z.number(),
    preprocess: z.number(),
    inference: z.number(),
    postprocess: z.number(),
  })
  .meta({ id: 'Timings', description: 'Milliseconds of each step' });
export type Timings = z.infer<typeof timingsSchema>;

export const STAGES = Object.keys(timingsSchema.shape) as readonly (keyof Timings)[];

const imageTilesSchema = z
  .object({
    columns: z.int(),
    rows: z.int(),
    width: z.int().meta({ description: 'Of a tile, in pixels of the image' }),
    height: z.int(),
  })
  .meta({
    id: 'ImageTiles',
    description:
      'The tiles that were looked at beside the whole image: of one size, evenly spaced from border to border',
    example: { columns: 3, rows: 2, width: 739, height: 711 },
  });
export type ImageTiles = z.infer<typeof imageTilesSchema>;

export const regionCountsSchema = z.record(z.string(), z.record(z.string(), z.int())).meta({
  description:
    'Boxes by region and class, with a row for every region; present where there are regions',
});
export type RegionCounts = z.infer<typeof regionCountsSchema>;

/** Where a picture was taken, by the GPS data of its EXIF. A picture has both or none. */
const positionFields = {
  latitude: z.number().min(-90).max(90).meta({
    description:
      'Where the picture was taken, by its EXIF: degrees (WGS 84), north positive. Absent where it does not say so',
    example: 52.514722,
  }),
  longitude: z.number().min(-180).max(180).meta({
    description: 'Degrees, east positive; present where `latitude` is',
    example: 13.350139,
  }),
};
export type Position = z.infer<z.ZodObject<typeof positionFields>>;

/** An image without what names it: the part that does not depend on the request. */
export const processedImageSchema = z.object({
  detections: z.array(detectionSchema).meta({ description: 'Highest confidence first' }),
  processingTimeMs: z.number(),
  image: imageSizeSchema,
  timingsMs: timingsSchema,
  truncated: z
    .boolean()
    .meta({ description: 'True when the list was cut at the most detections allowed' }),
  tiles: imageTilesSchema
    .optional()
    .meta({ description: 'Absent where only the whole image was looked at' }),
  precision: z
    .string()
    .optional()
    .meta({ description: 'What the network was computed in: int8, bf16, f32, fp16' }),
  modelDigest: z.string().optional().meta({
    description: 'The first 16 hex digits of the SHA-256 of the model file that was loaded',
    example: 'f75a8e4787ce638c',
  }),
  /**
   * When the 8-bit copy of the model was loaded: the digest of the file that it was made from. Answers do not have it.
   */
  quantizedFrom: z.string().optional(),
  file: fileReadSchema.optional(),
  latitude: positionFields.latitude.optional(),
  longitude: positionFields.longitude.optional(),
  regionCounts: regionCountsSchema.optional(),
  view: z
    .object({ name: z.string(), version: z.int() })
    .meta({ id: 'ViewUsed', description: 'The view whose regions were used, in this version' })
    .optional(),
});
export type ProcessedImage = z.infer<typeof processedImageSchema>;

/** A picture reduced to few numbers, from which faults of its camera are found: see `src/cameras/picture-look.ts`. */
export interface PictureLook {
  /** Mean luma of each cell, 0 to 255, row by row; the picture is stretched to a square. */
  grey: Uint8Array;
  /**
   * Mean squared Laplacian over the variance of the luma, of the picture reduced to a long side of 256 pixels at most;
   * 0 for a picture of one colour. Light and contrast do not change it, blur lowers it, noise raises it.
   */
  sharpness: number;
}

export interface ImageResult extends ProcessedImage {
  /** The model variant of the request. */
  model: string;
  workerId: string;
  /** The boxes above the `scoreFloor` of the request, see `packFound`; absent where it has none. */
  found?: Uint8Array;
  /** Absent where the request did not ask for it. */
  look?: PictureLook;
  /** Those of the first boxes of `found` in their order, see `descriptorDistance`; absent where there are none. */
  descriptors?: Uint8Array;
}
