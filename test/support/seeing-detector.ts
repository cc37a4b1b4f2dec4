/** Finds the same boxes in every picture, unless told otherwise: cars at 0.9 and 0.2, a truck at 0.6, a bus at 0.4. */
import type { Detection, ImageResult } from '../../src/api/schemas/image.js';
import { packFound } from '../../src/boxes/found-boxes.js';
import { refineDetections } from '../../src/boxes/refine-detections.js';
import type { DetectRequest } from '../../src/execution/detector.js';
import { FakeDetector } from './fake-detector.js';
import { foundIn } from './found-in.js';
import { ScriptedDetector } from './scripted-detector.js';

const IMAGE = { width: 100, height: 100 };
const box = (name: string, confidence: number, left: number): Detection => ({
  box: [left, 10, left + 10, 20],
  confidence,
  class: name,
});
const FOUND = [
  box('car', 0.9, 10),
  box('truck', 0.6, 60),
  box('bus', 0.4, 30),
  box('car', 0.2, 80),
];

export class SeeingDetector extends FakeDetector {
  /** Size of every picture. */
  image = IMAGE;
  /** The boxes of a picture, highest confidence first. */
  found: (path: string) => Detection[] = () => FOUND;
  readonly #catalogue = new ScriptedDetector();

  override models = () => this.#catalogue.models();
  override prepare = (name: string) => this.#catalogue.prepare(name);

  override async detect(request: DetectRequest): Promise<ImageResult> {
    const result = await super.detect(request);
    const found = foundIn(this.image, this.found(request.path), { floor: 0.05 });
    const refined = refineDetections(found, request.options);
    return { ...result, image: this.image, ...refined, found: packFound(found) };
  }
}
