/** Cameras of a watch in a store: outcomes of their pictures are recorded, and what the store says of them is read. */
import type { CameraPicture } from '../../../src/cameras/camera-health.js';
import { SyntheticCamera, type Fault } from '../../support/synthetic-camera.js';
import { contentOf } from '../../watches/watched-folder.js';
import { START, WatchedPictures } from './watched-pictures.js';

export const HOUR = 3_600;
export const DAY = 24 * HOUR;
/** So long every hour of the day becomes known: half an hour lies between two pictures. */
export const LEARNT = 4 * DAY + 9 * HOUR;
const TRAITS = { seed: 5, night: 0.5, sunrise: 6, sunset: 20, noise: 3, traffic: 2 };
/** Less than lies between two pictures: each is an event. */
const EVENT_GAP_S = 600;
const SIZE = { width: 1280, height: 720 };

/** A picture in a folder; its time counts from `START`. */
export interface TakenPicture {
  folder: string;
  picture: CameraPicture;
}

export function halfHours(from: number, until: number): number[] {
  return Array.from({ length: (until - from) / 1_800 }, (_, at) => from + at * 1_800);
}

export class RecordedCameras extends WatchedPictures {
  readonly #camera = new SyntheticCamera(TRAITS);

  /** With a watch on its cameras. `isTold`: vehicles that stand and events of its pictures are told too. */
  static async opened(isTold = false): Promise<RecordedCameras> {
    const cameras = new RecordedCameras();
    await cameras.open();
    await cameras.addWatch({
      cameraHealth: true,
      eventGapS: isTold ? EVENT_GAP_S : null,
      settings: { ...contentOf().settings, places: isTold },
    });
    return cameras;
  }

  /** Stores the outcomes of pictures of one camera, in this order, as one job. */
  recordAt(times: readonly number[], fault: Fault | null = null, folder = 'in'): Promise<void> {
    return this.recordTaken(
      times.map((time) => ({ folder, picture: this.#camera.picture(time - START, fault) })),
    );
  }

  /** Stores the outcomes of pictures, in this order, as one job. */
  recordTaken(taken: readonly TakenPicture[]): Promise<void> {
    return this.recordOutcomes(
      taken.map(({ folder, picture }) => {
        const { time, look, boxes, confidence, contentDigest } = picture;
        // The first ones stand, as long as there are so many.
        const detections = Array.from({ length: boxes }, (_, box) => ({
          class: 'car',
          confidence: confidence ?? 0.7,
          box: [60 * box, 200, 60 * box + 50, 240],
        }));
        const file = { digest: contentDigest };
        const outcome = { detections, image: SIZE, file };
        return { folder, time: START + time, outcome, look };
      }),
    );
  }

  /** Pictures of days, and then covered ones. Returns the time after the last. */
  async cover(): Promise<number> {
    await this.recordAt(halfHours(START, START + LEARNT));
    const from = START + LEARNT;
    const until = from + 3 * HOUR;
    await this.recordAt(halfHours(from, until), 'black');
    await this.check(until);
    return until;
  }

  kinds = async () =>
    (await this.store.cameras(this.watch)).map(({ camera, open, closed }) => ({
      camera,
      open: open.map(({ kind }) => kind),
      closed: closed.map(({ kind }) => kind),
    }));
}
