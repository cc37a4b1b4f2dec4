/**
 * Events of cameras of watches, on the thread of the store: rows of `camera_events`, each with the event that goes on.
 * One with a vehicle is told when it is over, once.
 */
import { EventFold, type PictureEvent } from '../../cameras/picture-events.js';
import { DismissedPlaces } from './dismissed-places.js';
import type { JobTransitions } from '../job-transitions.js';
import { PictureCounts, type PictureSource } from '../picture-counts.js';
import { forgetCameras, picturesThatAsk, type QueuedPicture } from './queued-pictures.js';
import type { Statements } from '../statements.js';

type CameraEvent = PictureEvent<number, PictureSource>;

interface EventRow {
  watch: number;
  camera: string;
  /** JSON of a `CameraEvent`. */
  event: string;
}

/** Events that are ended in one step. */
const ENDED_PER_STEP = 20;

export class CameraEventFold {
  readonly #statements: Statements;
  readonly #transitions: JobTransitions;

  constructor(statements: Statements, transitions: JobTransitions) {
    this.#statements = statements;
    this.#transitions = transitions;
  }

  /** Takes in those pictures of one camera, in order of time, whose jobs ask for it; none of an event that is over. */
  add(watch: number, camera: string, pictures: readonly QueuedPicture[], now: number): void {
    const asked = picturesThatAsk(this.#statements, pictures, 'eventGapS');
    if (asked.length === 0) return;
    const gapS = Math.max(...asked.map(({ value }) => value));
    const fold = new EventFold<number, PictureSource>(gapS, this.#event(watch, camera));
    const counts = new PictureCounts(this.#statements, null, new DismissedPlaces(this.#statements));
    for (const { row, job, time } of asked) {
      const first = fold.events.at(-1)?.first ?? time;
      if (time >= first - gapS) fold.add({ ...counts.of(row, job), time });
    }
    const events = [...fold.events];
    const open = events.pop();
    for (const event of events) this.#tell(camera, event, now);
    if (open !== undefined) this.#save({ watch, camera, event: JSON.stringify(open) }, now, gapS);
  }

  /** Ends events after which no picture has come for their gap. Returns whether there may be more. */
  endOld(now: number): boolean {
    const rows = this.#statements.all(
      `SELECT watch, camera, event FROM camera_events WHERE ends_at <= ? LIMIT ${ENDED_PER_STEP}`,
      now,
    ) as EventRow[];
    for (const { watch, camera, event } of rows) {
      this.#tell(camera, JSON.parse(event) as CameraEvent, now);
      const sql = 'DELETE FROM camera_events WHERE watch = ? AND camera = ?';
      this.#statements.run(sql, watch, camera);
    }
    return rows.length === ENDED_PER_STEP;
  }

  #tell(camera: string, { first, last, images, classes, best }: CameraEvent, now: number): void {
    if (best === null || first === null || last === null) return;
    const news = { change: 'ended', camera, first, last, images, classes } as const;
    this.#transitions.cameraChanged(best, news, now);
  }

  #event(watch: number, camera: string): CameraEvent | null {
    const sql = 'SELECT event FROM camera_events WHERE watch = ? AND camera = ?';
    const row = this.#statements.get(sql, watch, camera) as Pick<EventRow, 'event'> | undefined;
    if (row !== undefined) return JSON.parse(row.event) as CameraEvent;
    forgetCameras(this.#statements, 'camera_events', watch);
    return null;
  }

  #save({ watch, camera, event }: EventRow, now: number, gapS: number): void {
    this.#statements.run(
      `INSERT INTO camera_events (watch, camera, arrived_at, ends_at, event) VALUES (?, ?, ?, ?, ?)
       ON CONFLICT DO UPDATE SET arrived_at = excluded.arrived_at, ends_at = excluded.ends_at, event = excluded.event`,
      ...[watch, camera, now, now + gapS, event],
    );
  }
}
