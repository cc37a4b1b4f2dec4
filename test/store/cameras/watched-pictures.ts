/** Pictures of a watched folder in the store: each is recorded with its boxes and taken in. */
import { expect } from 'vitest';
import type { Detection, PictureLook } from '../../../src/api/schemas/image.js';
import { packFound } from '../../../src/boxes/found-boxes.js';
import type { JobEvent } from '../../../src/store/job.js';
import { openStore, type ServiceStore } from '../../../src/store/service-store.js';
import type { WatchContent } from '../../../src/store/watched.js';
import { TemporaryFolder } from '../../jobs/job-folder.js';
import { contentOf } from '../../watches/watched-folder.js';

/** A Monday. */
export const START = 1_735_516_800;
export const IMAGE = { width: 1000, height: 500 };
const URL = 'http://localhost/hook';
/** Longer than pictures wait for earlier ones. */
const SETTLED_S = 30;

/** A picture in a folder of the watch. */
export interface RecordedPicture {
  folder: string;
  /** Unix time. */
  time: number;
  outcome: object;
  /** See `packFound`. */
  found?: Uint8Array;
  look?: PictureLook;
}

export class WatchedPictures implements AsyncDisposable {
  readonly #folder = new TemporaryFolder();
  readonly events: JobEvent[] = [];
  store!: ServiceStore;
  watch = 0;
  #jobs = 0;

  get dataDir(): string {
    return this.#folder.path;
  }

  async open(): Promise<void> {
    this.store = await openStore(this.#folder.path);
    this.store.onCommitted((events) => this.events.push(...events));
  }

  async reopen(): Promise<void> {
    await this.store.close();
    await this.open();
  }

  async addWatch(changes: Partial<WatchContent>): Promise<void> {
    const content = contentOf(changes);
    const added = { ...content, settings: { ...content.settings, callbackUrl: URL } };
    this.watch = (await this.store.addWatch('', 'gate', added, [], START)).number;
  }

  /** Stores a job of pictures, taken so many seconds after `START`, and takes them in. */
  async record(
    seconds: readonly number[],
    boxesOf: (second: number) => readonly Detection[],
    view?: { name: string; version: number },
  ): Promise<void> {
    const pictures = seconds.map((second) => {
      const detections = [...boxesOf(second)];
      const found = { detections, image: IMAGE, floor: 0.1, isCut: false, lacksVehicles: false };
      return {
        folder: 'in',
        time: START + second,
        outcome: { detections, image: IMAGE, view },
        found: packFound(found),
      };
    });
    await this.recordOutcomes(pictures);
    await this.check(START + Math.max(...seconds) + SETTLED_S);
  }

  /** Stores pictures, in this order, as one job that ends when the latest one was taken. */
  async recordOutcomes(pictures: readonly RecordedPicture[]): Promise<void> {
    this.#jobs += 1;
    const submitted = await this.store.submitFiles({
      jobId: `job_${this.#jobs}`,
      submittedAt: START,
      idempotency: null,
      admit: true,
      watch: this.watch,
      files: pictures.map(({ folder, time }) => ({
        path: `${folder}/${time}.jpg`,
        version: `0-1-${folder}-${time}`,
      })),
    });
    const { number } = submitted!.job;
    const { fencingToken } = (await this.store.start(number, 'w', START))!;
    const outcomes = pictures.map(({ time, outcome, found, look }, index) => ({
      index,
      ok: true,
      outcome: JSON.stringify({ status: 'ok', ...outcome }),
      taken: { time: wallTime(time), source: 'exif' as const },
      ...(found !== undefined && { found }),
      ...(look !== undefined && { look }),
    }));
    const at = Math.max(...pictures.map(({ time }) => time)) + 1;
    expect(await this.store.record(number, fencingToken, outcomes, 'w', at)).not.toBeNull();
  }

  /** `since`: the watch works since then; null: it does not. */
  async check(now: number, since: number | null = null): Promise<void> {
    const working = since === null ? [] : [{ watch: this.watch, since }];
    while (await this.store.checkCameras(now, working));
  }

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

const wallTime = (time: number): string => new Date(time * 1_000).toISOString().slice(0, 19);
