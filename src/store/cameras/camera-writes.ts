/**
 * Takes in the queued pictures of cameras of watches, on the thread of the store. A small step takes those of one
 * camera, in order of time, and says what it found in the same transaction: no picture is lost or counted twice.
 */
import { CameraEventFold } from './camera-event-fold.js';
import type { FindingKind } from '../../cameras/camera-health.js';
import { HealthFold, type FindingAction, type WorkingWatch } from './health-rows.js';
import type { JobTransitions } from '../job-transitions.js';
import { PlaceFold } from './place-fold.js';
import { duePictures, unqueue } from './queued-pictures.js';
import type { Statements } from '../statements.js';

export class CameraWrites {
  readonly #statements: Statements;
  readonly #health: HealthFold;
  readonly #places: PlaceFold;
  readonly #events: CameraEventFold;

  constructor(statements: Statements, transitions: JobTransitions) {
    this.#statements = statements;
    this.#health = new HealthFold(statements, transitions);
    this.#places = new PlaceFold(statements, transitions);
    this.#events = new CameraEventFold(statements, transitions);
  }

  /** One small step; `working`: watches whose cameras may be late. Returns whether work is left. */
  checkCameras(now: number, working: readonly WorkingWatch[]): boolean {
    const due = duePictures(this.#statements, now);
    if (due === null) {
      return this.#events.endOld(now) || working.some((each) => this.#health.findLate(now, each));
    }
    const { watch, camera, pictures } = due;
    const lookedAt = pictures.flatMap(({ grey, sharpness, ...picture }) =>
      grey === null || sharpness === null ? [] : [{ ...picture, look: { grey, sharpness } }],
    );
    if (lookedAt.length > 0) this.#health.add(watch, camera, lookedAt, now);
    this.#places.add(watch, camera, pictures, now);
    this.#events.add(watch, camera, pictures, now);
    unqueue(this.#statements, pictures);
    return true;
  }

  /** False: there is no such open finding. */
  changeFinding(
    watch: number,
    ...change: [camera: string, kind: FindingKind, action: FindingAction, now: number]
  ): boolean {
    return this.#health.change(watch, ...change);
  }
}
