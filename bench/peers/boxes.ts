/** The boxes that a server gives for photos, and its answers over HTTP: the request is the same for all. */
import { z } from 'zod';
import type { Detection } from '../../src/api/schemas/image.js';
import { meanAveragePrecision, type LabelledBox } from '../../src/boxes/average-precision.js';
import { compare, type BoxAgreement } from '../accuracy/box-agreement.js';
import type { HttpClient } from '../load/http-client.js';

/** Boxes of interest; servers are asked down to `LOWEST`, so that one at the very floor has a partner. */
const FLOOR = 0.3;
const LOWEST = 0.25;
const OVERLAP = 0.9;
const SCORE_GAP = 0.05;

export type BoxesByPhoto = ReadonlyMap<string, Detection[]>;

const answerSchema = z.object({
  detections: z.array(
    z.object({
      box: z.tuple([z.number(), z.number(), z.number(), z.number()]),
      confidence: z.number(),
      class: z.union([z.string(), z.number()]),
    }),
  ),
});

/** 503: the server has too much to do. */
export class Refused extends Error {}

/** Milliseconds and body of a detection of all classes. Rejects on any answer but boxes. */
export async function detect(client: HttpClient, photo: string) {
  const { status, body, ms } = await client.send('POST', '/v1/inference/detect', {
    image_path: photo,
    confidence_threshold: LOWEST,
    classes: ['*'],
  });
  if (status === 503) throw new Refused(`${photo} was refused: ${body}`);
  if (status !== 200) throw new Error(`${photo} was answered ${status}: ${body}`);
  return { ms, body };
}

/** `classNames` are the model's, by the numbers that other servers answer with. */
export async function boxesOf(
  client: HttpClient,
  photos: readonly string[],
  classNames: readonly string[],
): Promise<BoxesByPhoto> {
  const boxes = new Map<string, Detection[]>();
  for (const photo of photos) {
    const { body } = await detect(client, photo);
    const { detections } = answerSchema.parse(JSON.parse(body));
    const named = detections.map(({ class: id, ...rest }) => ({
      ...rest,
      class: typeof id === 'number' ? (classNames[id] ?? `class ${id}`) : id,
    }));
    boxes.set(photo, named);
  }
  return boxes;
}

/** mAP50-95 of the boxes above `LOWEST`; null without labels. */
export function precisionOf(
  boxes: BoxesByPhoto,
  labels: ReadonlyMap<string, LabelledBox[]>,
): number | null {
  const photos = [...boxes.keys()].filter((photo) => labels.has(photo));
  return meanAveragePrecision(
    photos.map((photo) => boxes.get(photo) ?? []),
    photos.map((photo) => labels.get(photo) ?? []),
  );
}

export function agreement(ours: BoxesByPhoto, theirs: BoxesByPhoto): BoxAgreement {
  const pairs = [...ours].map(([photo, expected]) => ({
    photo,
    expected,
    found: theirs.get(photo) ?? [],
  }));
  return compare(pairs, OVERLAP, FLOOR, SCORE_GAP);
}
