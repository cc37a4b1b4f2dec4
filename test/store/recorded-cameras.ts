/** Cameras of a watch in a store: outcomes of their pictures are recorded, and what the store says of them is read. */
import { expect } from 'vitest';
import type { CameraPicture } from '../../src/cameras/camera-health.js';
import type { JobEvent } from '../../src/store/job.js';
import { openStore, type ServiceStore } from '../../src/store/service-store.js';
import { TemporaryFolder } from '../jobs/job-folder.js';
import { SyntheticCamera, type Fault } from '../support/synthetic-camera.js';
import { contentOf } from '../watches/watched-folder.js';

export const HOUR = 3_600;
export const DAY = 24 * HOUR;
/** A Monday. */
export const START = 1_735_516_800;
/** So long every hour of the day becomes known: half an hour lies between two pictures. */
export const LEARNT = 4 * DAY + 9 * HOUR;
const TRAITS = { seed: 5, night: 0.5, sunrise: 6, sunset: 20, noise: 3, traffic: 2 };
const URL = 'http://localhost/hook';
/** Less than lies between two pictures: each is an event. */
const EVENT_GAP_S = 600;
const IMAGE = { width: 1280, height: 720 };

/** A picture in a folder; its time counts from `START`. */
export interface TakenPicture {
  folder: string;
  picture: CameraPicture;
}

export function halfHours(from: number, until: number): number[] {
  return Array.from({ length: (until - from) / 1_800 }, (_, at) => from + at * 1_800);
}

export class RecordedCameras implements AsyncDisposable {
  readonly #folder = new TemporaryFolder();
  readonly #camera = new SyntheticCamera(TRAITS);
  readonly events: JobEvent[] = [];
  store!: ServiceStore;
  watch = 0;
  #jobs = 0;

  /** With a watch on its cameras. `isTold`: vehicles that stand and events of its pictures are told too. */
  static async open(isTold = false): Promise<RecordedCameras> {
    const cameras = new RecordedCameras();
    await cameras.reopen();
    const content = {
      ...contentOf({ cameraHealth: true, eventGapS: isTold ? EVENT_GAP_S : null }),
      settings: { ...contentOf().settings, callbackUrl: URL, places: isTold },
    };
    cameras.watch = (await cameras.store.addWatch('', 'gate', content, [], START)).number;
    return cameras;
  }

  /** Opens the store, which is closed. */
  async reopen(): Promise<void> {
    this.store = await openStore(this.#folder.path);
    this.store.onCommitted((events) => this.events.push(...events));
  }

  get dataDir(): string {
    return this.#folder.path;
  }

  /** Stores the outcomes of pictures of one camera, in this order, as one job. */
  record(times: readonly number[], fault: Fault | null = null, folder = 'in'): Promise<void> {
    return this.recordTaken(
      times.map((time) => ({ folder, picture: this.#camera.picture(time - START, fault) })),
    );
  }

  /** Stores the outcomes of pictures, in this order, as one job that ends when the latest one was taken. */
  async recordTaken(taken: readonly TakenPicture[]): Promise<void> {
    this.#jobs += 1;
    const timeOf = ({ picture }: TakenPicture) => START + picture.time;
    const submitted = await this.store.submitFiles({
      jobId: `job_${this.#jobs}`,
      submittedAt: START,
      idempotency: null,
      admit: true,
      watch: this.watch,
      files: taken.map((each) => ({
        path: `${each.folder}/${timeOf(each)}.jpg`,
        version: `0-1-${each.folder}-${timeOf(each)}`,
      })),
    });
    const { number, spec } = submitted!.job;
    expect(spec.cameraHealth).toBe(true);
    const { fencingToken } = (await this.store.start(number, 'w', START))!;
    const outcomes = taken.map((each, index) => {
      const { look, boxes, confidence, contentDigest } = each.picture;
      // The first ones stand, as long as there are so many.
      const detections = Array.from({ length: boxes }, (_, box) => ({
        class: 'car',
        confidence: confidence ?? 0.7,
        box: [60 * box, 200, 60 * box + 50, 240],
      }));
      const time = new Date(timeOf(each) * 1_000).toISOString().slice(0, 19);
      return {
        index,
        ok: true,
        outcome: JSON.stringify({
          status: 'ok',
          detections,
          image: IMAGE,
          file: { digest: contentDigest },
        }),
        taken: { time, source: 'exif' as const },
        look,
      };
    });
    const at = Math.max(...taken.map(timeOf)) + 1;
    expect(await this.store.record(number, fencingToken, outcomes, 'w', at)).not.toBeNull();
  }

  /** Pictures of days, and then covered ones. Returns the time after the last. */
  async cover(): Promise<number> {
    await this.record(halfHours(START, START + LEARNT));
    const from = START + LEARNT;
    const until = from + 3 * HOUR;
    await this.record(halfHours(from, until), 'black');
    await this.check(until);
    return until;
  }

  /** `since`: the watch works since then; null: it does not. */
  async check(now: number, since: number | null = null): Promise<void> {
    const working = since === null ? [] : [{ watch: this.watch, since }];
    while (await this.store.checkCameras(now, working));
  }

  kinds = async () =>
    (await this.store.cameras(this.watch)).map(({ camera, open, closed }) => ({
      camera,
      open: open.map(({ kind }) => kind),
      closed: closed.map(({ kind }) => kind),
    }));

  told = () =>
    this.events.flatMap(({ event, jobId, news }) =>
      news === undefined ? [] : [{ event, jobId, ...news }],
    );

  webhooks = async () =>
    (await this.store.webhooks.due(9e9, { limit: 100, perHost: 100, without: [] })).flatMap(
      ({ jobId, news }) => (news === null ? [] : [{ jobId, ...news }]),
    );

  async [Symbol.asyncDispose](): Promise<void> {
    await this.store.close();
    this.#folder[Symbol.dispose]();
  }
}
