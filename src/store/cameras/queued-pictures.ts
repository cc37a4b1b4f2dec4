/**
 * Pictures of cameras of watches that are still to be taken in: rows of `camera_pictures`, queued with the outcome of
 * their image. Cameras of a watch that are remembered are bounded in number.
 */
import type { PictureLook } from '../../api/schemas/image.js';
import { readPictures, type PictureRow } from './camera-pictures.js';
import { folderOf } from '../count-rows.js';
import { jobNumberOf, type AskedJobRow } from '../job-parts.js';
import { askedSettings } from '../job-rows.js';
import type { Statements } from '../statements.js';

/** A picture waits so long for earlier ones of its camera: images of a job end in any order. */
const SETTLE_S = 5;
/** Pictures of one step: they take a few milliseconds. */
const PICTURES_PER_STEP = 50;
/** Cameras of a watch that are remembered; the one without a picture for longest is forgotten first. */
const MOST_CAMERAS = 1_000;
/** A picture that says to be taken later than this after its arrival has a wrong clock. */
const AHEAD_S = 86_400;

export interface QueuedPicture {
  task: number;
  /** Wall time in seconds as if it were UTC. */
  time: number;
  arrivedAt: number;
  /** Null where the watch does not ask for the health of its cameras. */
  grey: Uint8Array | null;
  sharpness: number | null;
  digest: string | null;
  boxes: number;
  confidence: number | null;
}

/** Queues an image whose outcome is stored in this transaction. */
export function queuePicture(
  statements: Statements,
  {
    task,
    path,
    look,
    at,
  }: { task: number; path: string; look?: PictureLook | null | undefined; at: number },
): void {
  statements.run(
    `INSERT INTO camera_pictures (task, watch, camera, time, arrived_at, grey, sharpness, digest, boxes, confidence)
     SELECT task, watches.number, ?2, CASE WHEN unixepoch(taken) <= ?3 + ${AHEAD_S} THEN unixepoch(taken) ELSE ?3 END, ?3,
       ?4, ?5, outcome ->> '$.file.digest', boxes,
       (SELECT avg(value ->> 'confidence') FROM json_each(outcome, '$.detections'))
     FROM image_facts JOIN job_images USING (task) JOIN jobs ON jobs.number = ?6
     JOIN watches ON watches.name = jobs.watch AND watches.owner = coalesce(jobs.key_id, '')
     WHERE task = ?1`,
    task,
    folderOf({ path }),
    at,
    look?.grey ?? null,
    look?.sharpness ?? null,
    jobNumberOf(task),
  );
}

export interface DuePictures {
  watch: number;
  camera: string;
  /** In order of time. */
  pictures: QueuedPicture[];
}

/** Pictures of one camera that may be taken in; null: there are none. */
export function duePictures(statements: Statements, now: number): DuePictures | null {
  // A picture that arrived in the future came before the clock was set back.
  const due = statements.get(
    `SELECT watch, camera FROM camera_pictures WHERE arrived_at NOT BETWEEN ? AND ? ORDER BY arrived_at LIMIT 1`,
    now - SETTLE_S,
    now,
  ) as { watch: number; camera: string } | undefined;
  if (due === undefined) return null;
  const pictures = statements.all(
    `SELECT task, time, arrived_at AS arrivedAt, grey, sharpness, digest, boxes, confidence
     FROM camera_pictures WHERE watch = ? AND camera = ? AND arrived_at NOT BETWEEN ? AND ?
     ORDER BY time, task LIMIT ${PICTURES_PER_STEP}`,
    due.watch,
    due.camera,
    now - SETTLE_S,
    now,
  ) as QueuedPicture[];
  return { ...due, pictures };
}

export function unqueue(statements: Statements, pictures: readonly QueuedPicture[]): void {
  for (const { task } of pictures) {
    statements.run('DELETE FROM camera_pictures WHERE task = ?', task);
  }
}

/** Makes room for a row of one more camera of the watch. */
export function forgetCameras(
  statements: Statements,
  table: 'camera_health' | 'camera_places' | 'camera_events',
  watch: number,
): void {
  statements.run(
    `DELETE FROM ${table} WHERE number IN
       (SELECT number FROM ${table} WHERE watch = ? ORDER BY arrived_at DESC LIMIT -1 OFFSET ?)`,
    watch,
    MOST_CAMERAS - 1,
  );
}

/** A queued picture as it is stored, with its time and its job. */
export interface AskedPicture {
  row: PictureRow;
  job: AskedJobRow;
  time: number;
  /** The value of the setting. */
  value: number;
}

/** The pictures, in their order, in whose jobs a setting is neither absent nor false. */
export function picturesThatAsk(
  statements: Statements,
  pictures: readonly QueuedPicture[],
  setting: 'places' | 'eventGapS',
): AskedPicture[] {
  const jobs = jobsThatAsk(statements, pictures, setting);
  const times = new Map(
    pictures.flatMap(({ task, time }) =>
      jobs.has(jobNumberOf(task)) ? [[task, time] as const] : [],
    ),
  );
  return readPictures(statements, [...times.keys()]).flatMap((row) => {
    const time = times.get(row.task);
    const job = jobs.get(jobNumberOf(row.task));
    return time === undefined || job === undefined ? [] : [{ row, job, time, value: job.value }];
  });
}

/** The jobs of the pictures in which a setting is neither absent nor false, with its value, by number. */
function jobsThatAsk(
  statements: Statements,
  pictures: readonly QueuedPicture[],
  setting: 'places' | 'eventGapS',
): ReadonlyMap<number, AskedJobRow & { value: number }> {
  const numbers = new Set(pictures.map(({ task }) => jobNumberOf(task)));
  const rows = statements.all(
    `SELECT number, key_id AS keyId, image_count AS imageCount, succeeded, settings,
       settings ->> '$.${setting}' AS value
     FROM json_each(?) AS job CROSS JOIN jobs ON number = job.value
     WHERE settings -> '$.${setting}' NOT IN ('false', 'null')`,
    JSON.stringify([...numbers]),
  ) as (Omit<AskedJobRow, 'settings'> & { settings: string; value: number })[];
  return new Map(
    rows.map((row) => [row.number, { ...row, settings: askedSettings(row.settings) }]),
  );
}
