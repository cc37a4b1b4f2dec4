/** A detector that reads files as a worker does: the boxes follow from the bytes, and results say which file it was. */
import { closeSync, fstatSync, openSync, readFileSync } from 'node:fs';
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { LatticeError } from '../../src/api/errors.js';
import type { FileRead } from '../../src/api/schemas/file-read.js';
import type { ImageResult } from '../../src/api/schemas/image.js';
import type { ModelDescription } from '../../src/api/schemas/model.js';
import type { DetectRequest } from '../../src/execution/detector.js';
import { packFound } from '../../src/boxes/found-boxes.js';
import { refineDetections } from '../../src/boxes/refine-detections.js';
import { FakeDetector } from './fake-detector.js';
import { foundIn } from './found-in.js';

/** A file without it at its end is only a part. */
export const END = 'END';

export class FileDetector extends FakeDetector {
  /** Digest of the model that is loaded. */
  digest = '0000000000000001';
  precision = 'f32';
  /** By which the clock of its machine is ahead: files then look older than they are. */
  clockAheadS = 0;
  /** Called when a file was read, before it is looked at. */
  onRead: () => void = () => undefined;
  readonly #root: string;

  constructor(root: string) {
    super();
    this.#root = root;
  }

  override async detect(request: DetectRequest): Promise<ImageResult> {
    const result = await super.detect(request);
    const { bytes, file } = this.#read(request);
    this.onRead();
    if (!bytes.toString('latin1').endsWith(END)) {
      throw new LatticeError('invalid_image', 'The image is cut off.', { file });
    }
    const found = foundIn(result.image, [
      { box: [1, 2, 3, bytes.length], confidence: 0.9, class: 'car' },
      { box: [300, 2, 350, 60], confidence: 0.4, class: 'bus' },
    ]);
    return {
      ...result,
      ...refineDetections(found, request.options),
      ...(request.scoreFloor !== undefined && { found: packFound(found) }),
      file,
      modelDigest: this.digest,
      precision: this.precision,
    };
  }

  override prepare(name: string): Promise<ModelDescription> {
    const { digest, precision } = this;
    return Promise.resolve({ name, digest, precision } as ModelDescription);
  }

  #read({ path, digest }: DetectRequest): { bytes: Buffer; file: FileRead } {
    const descriptor = openSync(join(this.#root, path), 'r');
    try {
      const readAt = Date.now() / 1_000 + this.clockAheadS;
      const entry = fstatSync(descriptor, { bigint: true });
      const bytes = readFileSync(descriptor);
      const file = {
        size: Number(entry.size),
        modifiedNs: String(entry.mtimeNs),
        changedNs: String(entry.ctimeNs),
        device: String(entry.dev),
        inode: String(entry.ino),
        readAt,
        ...(digest && { digest: createHash('sha256').update(bytes).digest('hex') }),
      };
      return { bytes, file };
    } finally {
      closeSync(descriptor);
    }
  }
}
