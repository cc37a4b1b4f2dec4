/**
 * Vehicles that stand before cameras of watches, on the thread of the store: rows of `camera_places`. A place counts
 * where its box lies in a region of its picture, or where the picture has no regions, and was not dismissed.
 */
import { LatticeError } from '../../api/errors.js';
import type { DetectOptions } from '../../api/options.js';
import type { Detection, ProcessedImage } from '../../api/schemas/image.js';
import { isMask } from '../../boxes/regions.js';
import { refineDetections } from '../../boxes/refine-detections.js';
import { dismissalOf } from '../../cameras/dismissal.js';
import {
  foldPicture,
  noPlaces,
  type PlaceChange,
  type PlacedPicture,
  type Places,
} from '../../cameras/place-tracker.js';
import { foundOf, optionsOf, type Asked } from '../asked-boxes.js';
import type { PictureRow } from './camera-pictures.js';
import { DismissedPlaces } from './dismissed-places.js';
import type { PlaceNews } from '../job.js';
import type { AskedJobRow } from '../job-parts.js';
import type { JobTransitions } from '../job-transitions.js';
import { ownerOf } from '../owner.js';
import { optionsFor, resultOf } from '../picture-counts.js';
import { forgetCameras, picturesThatAsk, type QueuedPicture } from './queued-pictures.js';
import { faintBoxes, rulesOf } from './standing-boxes.js';
import type { Statements } from '../statements.js';
import { ViewReads } from '../view-rows.js';

/** The vehicle of a stay as it was told. */
type Told = Pick<PlaceNews, 'class' | 'regions' | 'box' | 'image'>;

interface State {
  places: Places;
  /** By the number of the stay; those that have not ended. */
  told: Map<number, Told>;
}

/** A picture with its boxes that may be of a place. */
interface FaintPicture {
  row: PictureRow;
  job: AskedJobRow;
  found: ReturnType<typeof foundOf>;
  faint: Detection[];
  /** The question by which `faint` was found, with its regions. */
  options: DetectOptions;
}

export class PlaceFold {
  readonly #statements: Statements;
  readonly #transitions: JobTransitions;
  readonly #views: ViewReads;

  constructor(statements: Statements, transitions: JobTransitions) {
    this.#statements = statements;
    this.#transitions = transitions;
    this.#views = new ViewReads(statements);
  }

  /** Takes in those pictures of one camera, in order of time, whose jobs ask for it; one that comes too late is not. */
  add(watch: number, camera: string, pictures: readonly QueuedPicture[], now: number): void {
    const asked = picturesThatAsk(this.#statements, pictures, 'places');
    if (asked.length === 0) return;
    const state = this.#state(watch, camera);
    for (const { row, job, time } of asked) {
      if (row.failed !== 0 || time < state.places.time) continue;
      this.#fold(state, row, job, { camera, time, now });
    }
    this.#save(watch, camera, state, now);
  }

  #fold(
    state: State,
    row: PictureRow,
    job: AskedJobRow,
    { camera, time, now }: { camera: string; time: number; now: number },
  ): void {
    const asked = this.#asked(row.view, job.keyId);
    if (asked === null) return;
    const all = optionsFor(job, asked);
    const options = optionsOf(asked, all, row.view);
    const rules = rulesOf(options);
    const found = foundOf(row.found, resultOf(row), all, rules.faintConfidence);
    const faint = faintBoxes(found, options, rules, row.descriptors);
    const picture = { key: String(row.task), time, ...found.image, boxes: faint };
    const placed = foldPicture(state.places, picture, rules);
    for (const change of placed.changes) {
      const { stay, place, since, lastSeen } = change;
      const of = {
        row,
        job,
        found,
        faint,
        options: { ...options, confidence: rules.faintConfidence },
      };
      const told =
        change.kind === 'left' ? state.told.get(stay) : this.#occupied(change, placed, of);
      if (told === undefined) continue;
      if (change.kind === 'left') state.told.delete(stay);
      else state.told.set(stay, told);
      const news = { change: change.kind, camera, place, stay, ...told, since, lastSeen };
      this.#transitions.cameraChanged(row.task, news, now);
    }
  }

  /** Undefined: the vehicle stands where nobody asks for it. */
  #occupied(
    { stay, group, box }: PlaceChange,
    placed: PlacedPicture,
    { row, job, found, faint, options }: FaintPicture,
  ): Told | undefined {
    const at = placed.boxes.findIndex((each) => each.stay === stay);
    // A vehicle that is hidden at the moment has the box of its place.
    const seen = faint[at] ?? { class: group, confidence: 1, box: [...box] };
    const [shown] = refineDetections(
      { ...found, detections: [seen] },
      { ...options, classes: null, classThresholds: {} },
    ).detections;
    if (shown === undefined) return undefined;
    const hasRegions = options.regions?.some((region) => !isMask(region)) ?? false;
    if (hasRegions && shown.regions?.length === 0) return undefined;
    const dismissed = new DismissedPlaces(this.#statements).of(job.keyId, row);
    if (dismissalOf(dismissed, shown, found.image) !== undefined) return undefined;
    const { regions = [], class: name } = shown;
    return { class: name, regions, box: shown.box, image: found.image };
  }

  /** Null: the version of the view is gone, so that the regions of the picture are not known. */
  #asked(view: string | null, keyId: string | null): Asked | null {
    const own = { question: {}, viewRegions: null };
    if (view === null) return { ...own, storedViews: {} };
    try {
      return { ...own, storedViews: { [view]: this.#regionsOf(view, keyId) } };
    } catch (error) {
      if (error instanceof LatticeError && error.code === 'view_not_found') return null;
      throw error;
    }
  }

  #regionsOf(view: string, keyId: string | null) {
    const { name, version } = JSON.parse(view) as NonNullable<ProcessedImage['view']>;
    return this.#views.viewVersion(ownerOf(keyId), name, version).regions;
  }

  #state(watch: number, camera: string): State {
    const row = this.#statements.get(
      'SELECT places FROM camera_places WHERE watch = ? AND camera = ?',
      watch,
      camera,
    ) as { places: string } | undefined;
    if (row !== undefined) {
      const { places, told } = JSON.parse(row.places) as { places: Places; told: [number, Told][] };
      return { places, told: new Map(told) };
    }
    forgetCameras(this.#statements, 'camera_places', watch);
    return { places: noPlaces(), told: new Map() };
  }

  #save(watch: number, camera: string, { places, told }: State, now: number): void {
    this.#statements.run(
      `INSERT INTO camera_places (watch, camera, arrived_at, places) VALUES (?, ?, ?, ?)
       ON CONFLICT DO UPDATE SET arrived_at = excluded.arrived_at, places = excluded.places`,
      watch,
      camera,
      now,
      JSON.stringify({ places, told: [...told] }),
    );
  }
}
