/** The health of the cameras of watches, on the thread of the store: rows of `camera_health`. */
import {
  atTime,
  dismiss,
  FINDING_KINDS,
  isSilenced,
  lateAfter,
  newHealth,
  silence,
  withPicture,
  type CameraHealth,
  type CameraPicture,
  type Finding,
  type FindingKind,
  type HealthStep,
} from '../../cameras/camera-health.js';
import { imagesOf, type PictureName } from './camera-pictures.js';
import { forgetCameras, type QueuedPicture } from './queued-pictures.js';
import type { JobTransitions } from '../job-transitions.js';
import type { Statements } from '../statements.js';

const LATE_PER_STEP = 20;
/** Closed findings of a camera that are kept, the newest first. */
const MOST_CLOSED = 20;

export interface ClosedFinding extends Finding {
  /** Time of the picture that ended it. */
  ended: number;
}

/** A camera as it is now. Times are wall times in seconds, as if they were UTC; `silencedUntil` is Unix time. */
export interface CameraRecord {
  camera: string;
  /** Time of its last picture. */
  last: number;
  /** Null once its job was removed, as of the pictures of findings. */
  picture: PictureName | null;
  open: (Finding & { image: PictureName | null })[];
  /** Newest first. */
  closed: (ClosedFinding & { image: PictureName | null })[];
}

/** A watch that works at present. */
export interface WorkingWatch {
  watch: number;
  /** Unix time: pictures before this say nothing of a camera that is late. */
  since: number;
}

/** A change of an open finding: silenced until a Unix time, or dismissed. */
export type FindingAction = { silencedUntil: number } | 'dismiss';

/** A picture of a camera with what counts for its health. */
type LookedAt = Pick<QueuedPicture, 'task' | 'time' | 'arrivedAt' | 'digest'> &
  Pick<CameraPicture, 'look' | 'boxes' | 'confidence'>;

interface HealthRow {
  watch: number;
  camera: string;
  arrivedAt: number;
  health: CameraHealth;
  closed: ClosedFinding[];
}

export class HealthReads {
  readonly #statements: Statements;

  constructor(statements: Statements) {
    this.#statements = statements;
  }

  /** By name. */
  cameras(watch: number): CameraRecord[] {
    const rows = this.#statements.all(
      `SELECT camera, time AS last, task, open, closed FROM camera_health WHERE watch = ? ORDER BY camera`,
      watch,
    ) as { camera: string; last: number; task: number; open: string; closed: string }[];
    const read = rows.map((row) => ({
      ...row,
      open: JSON.parse(row.open) as Finding[],
      closed: JSON.parse(row.closed) as ClosedFinding[],
    }));
    const tasks = read.flatMap(({ task, open, closed }) => [
      task,
      ...[...open, ...closed].map(({ picture }) => Number(picture)),
    ]);
    const images = imagesOf(this.#statements, [...new Set(tasks)]);
    const named = <T extends Finding>(finding: T) => ({
      ...finding,
      image: images.get(Number(finding.picture)) ?? null,
    });
    return read.map(({ camera, last, task, open, closed }) => ({
      camera,
      last,
      picture: images.get(task) ?? null,
      open: open.map(named),
      closed: closed.map(named),
    }));
  }

  /** Open findings of all watches. */
  openFindings(): { kind: FindingKind; findings: number }[] {
    return this.#statements.all(
      `SELECT finding.value ->> 'kind' AS kind, count(*) AS findings
       FROM camera_health, json_each(open) AS finding WHERE open <> '[]' GROUP BY 1`,
    ) as { kind: FindingKind; findings: number }[];
  }
}

/** Takes in the pictures of cameras, and says what it finds. */
export class HealthFold {
  readonly #statements: Statements;
  readonly #transitions: JobTransitions;

  constructor(statements: Statements, transitions: JobTransitions) {
    this.#statements = statements;
    this.#transitions = transitions;
  }

  /** False: there is no such open finding. */
  change(
    watch: number,
    camera: string,
    kind: FindingKind,
    action: FindingAction,
    now: number,
  ): boolean {
    const row = this.#row(watch, camera);
    if (row?.health.open[kind] === undefined) return false;
    const step =
      action === 'dismiss'
        ? dismiss(row.health, kind)
        : { health: silence(row.health, kind, action.silencedUntil), changes: [] };
    this.#save(row, [step], now);
    return true;
  }

  /** Takes in pictures of one camera, in order of time. */
  add(watch: number, camera: string, pictures: readonly LookedAt[], now: number): void {
    const row = this.#row(watch, camera) ?? this.#newRow(watch, camera);
    let { health } = row;
    const steps = pictures.map(({ task, arrivedAt, digest, ...picture }) => {
      row.arrivedAt = Math.max(row.arrivedAt, Math.min(arrivedAt, now));
      const contentDigest = digest ?? undefined;
      const step = withPicture(health, { ...picture, picture: String(task), contentDigest });
      health = step.health;
      return step;
    });
    this.#save(row, steps, now);
  }

  /** Finds cameras that are late. Returns whether there may be more. */
  findLate(now: number, { watch, since }: WorkingWatch): boolean {
    const late = this.#statements.all(
      `SELECT camera FROM camera_health
       WHERE watch = ?1 AND late_after IS NOT NULL AND ?2 - max(arrived_at, ?3) > late_after LIMIT ${LATE_PER_STEP}`,
      watch,
      now,
      since,
    ) as { camera: string }[];
    for (const { camera } of late) {
      const row = this.#row(watch, camera);
      const last = row?.health.last ?? null;
      if (row === null || last === null) continue;
      // The clock of the camera may be another one, so the time since the arrival counts.
      const passed = now - Math.max(row.arrivedAt, since);
      this.#save(row, [atTime(row.health, last.time + passed)], now);
    }
    return late.length === LATE_PER_STEP;
  }

  #row(watch: number, camera: string): HealthRow | null {
    const row = this.#statements.get(
      `SELECT arrived_at AS arrivedAt, open, closed, health FROM camera_health WHERE watch = ? AND camera = ?`,
      watch,
      camera,
    ) as { arrivedAt: number; open: string; closed: string; health: string } | undefined;
    if (row === undefined) return null;
    const open = (JSON.parse(row.open) as Finding[]).map((each) => [each.kind, each] as const);
    const rest = JSON.parse(row.health) as Omit<CameraHealth, 'open'>;
    return {
      ...{ watch, camera, arrivedAt: row.arrivedAt },
      health: { ...rest, open: Object.fromEntries(open) },
      closed: JSON.parse(row.closed) as ClosedFinding[],
    };
  }

  #newRow(watch: number, camera: string): HealthRow {
    forgetCameras(this.#statements, 'camera_health', watch);
    return { watch, camera, arrivedAt: 0, health: newHealth(), closed: [] };
  }

  /** Stores the camera as it is after the last step, and says what the steps changed. */
  #save(row: HealthRow, steps: readonly HealthStep[], now: number): void {
    const { watch, camera, arrivedAt } = row;
    const { open, ...rest } = steps.at(-1)?.health ?? row.health;
    if (rest.last === null) return;
    let { closed } = row;
    for (const { health, changes } of steps) {
      const ended = health.last?.time ?? 0;
      for (const change of changes) {
        if (change.change === 'closed') {
          closed = [{ ...change.finding, ended }, ...closed].slice(0, MOST_CLOSED);
        }
        if (isSilenced(change.finding, now)) continue;
        const { kind, began, picture } = change.finding;
        const news = { change: change.change, camera, kind, began };
        this.#transitions.cameraChanged(Number(picture), news, now);
      }
    }
    const findings = FINDING_KINDS.flatMap((kind) => open[kind] ?? []);
    this.#statements.run(
      `INSERT INTO camera_health (watch, camera, time, task, arrived_at, late_after, open, closed, health)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET time = excluded.time, task = excluded.task,
         arrived_at = excluded.arrived_at, late_after = excluded.late_after, open = excluded.open,
         closed = excluded.closed, health = excluded.health`,
      watch,
      camera,
      rest.last.time,
      Number(rest.last.picture),
      arrivedAt,
      lateAfterOf({ ...rest, open }),
      JSON.stringify(findings),
      JSON.stringify(closed),
      JSON.stringify(rest),
    );
  }
}

/** Seconds without a picture after which the camera becomes late; null: it is late, or its past is too short. */
function lateAfterOf(health: CameraHealth): number | null {
  const mayBeLate = atTime(health, Infinity).changes.length > 0;
  return mayBeLate ? lateAfter(health.past) : null;
}
