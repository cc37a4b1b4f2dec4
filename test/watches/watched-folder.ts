/** A watch on a folder of its own, with jobs whose detector says which version of a file it has read. */
import { lstatSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ImageResult } from '../../src/api/schemas/image.js';
import { LatticeError } from '../../src/api/errors.js';
import type { DetectRequest } from '../../src/execution/detector.js';
import type { JobSettings } from '../../src/store/job.js';
import type { WatchContent } from '../../src/store/watched.js';
import { Watches } from '../../src/watches/watches.js';
import { openTestJobs, specOf, TemporaryFolder } from '../jobs/job-folder.js';
import { silent } from '../support/silent-logger.js';
import { until } from '../support/eventually.js';
import { FakeDetector } from '../support/fake-detector.js';

export class ReadingDetector extends FakeDetector {
  readonly #root: string;
  /** Resolves before a file is read. */
  before: (path: string) => Promise<void> = () => Promise.resolve();

  constructor(root: string) {
    super();
    this.#root = root;
  }

  override async detect(request: DetectRequest): Promise<ImageResult> {
    await this.before(request.path);
    const status = lstatSync(join(this.#root, request.path), {
      bigint: true,
      throwIfNoEntry: false,
    });
    if (status === undefined) throw new LatticeError('image_not_found', 'It is not there.');
    const result = await super.detect(request);
    const { size, mtimeNs, ctimeNs, dev, ino } = status;
    const file = {
      size: Number(size),
      modifiedNs: String(mtimeNs),
      changedNs: String(ctimeNs),
      device: String(dev),
      inode: String(ino),
      readAt: Date.now() / 1_000,
    };
    return { ...result, file };
  }
}

export function contentOf(changes: Partial<WatchContent> = {}): WatchContent {
  const settings: JobSettings & { imagePaths?: string[] } = specOf();
  delete settings.imagePaths;
  return {
    paths: ['in'],
    settleMs: 100,
    intervalMs: 500,
    schedule: null,
    batch: { maxImages: 100, maxWaitS: 0 },
    existing: 'take',
    paused: false,
    request: { job_type: 'detect_cars' },
    settings,
    ...changes,
  };
}

export class WatchedFolder implements AsyncDisposable {
  readonly #data = new TemporaryFolder();
  readonly #images = new TemporaryFolder();
  readonly notices: boolean;
  detector = new ReadingDetector(this.root);
  #jobs: Awaited<ReturnType<typeof openTestJobs>> | null = null;
  #watches: Watches | null = null;

  constructor(notices: boolean) {
    this.notices = notices;
    mkdirSync(this.at('in'));
  }

  get root(): string {
    return this.#images.path;
  }

  get jobs() {
    if (this.#jobs === null) throw new Error('It is not open.');
    return this.#jobs;
  }

  get watches(): Watches {
    if (this.#watches === null) throw new Error('It is not open.');
    return this.#watches;
  }

  async open(): Promise<void> {
    this.#jobs = await openTestJobs(this.#data, {}, this.detector);
    const { store, service } = this.#jobs;
    this.#watches = await Watches.open({
      ledger: store,
      jobs: service,
      imageRoots: [this.root],
      logger: silent,
      notices: this.notices,
    });
  }

  async close(): Promise<void> {
    await this.#watches?.stop();
    await this.#jobs?.stop(0);
    this.#watches = this.#jobs = null;
  }

  /** As after an end of the process. */
  async reopen(): Promise<void> {
    await this.close();
    const { before } = this.detector;
    this.detector = new ReadingDetector(this.root);
    this.detector.before = before;
    await this.open();
  }

  at(path: string): string {
    return join(this.root, path);
  }

  write(path: string, text = path): void {
    writeFileSync(this.at(path), text);
  }

  rename(from: string, to: string): void {
    renameSync(this.at(from), this.at(to));
  }

  remove(path: string): void {
    rmSync(this.at(path), { recursive: true });
  }

  /** Paths of images with a result, each as often as it has one. */
  async results(): Promise<string[]> {
    const { jobs } = await this.jobs.service.list({}, { limit: 100, cursor: null });
    const paths: string[] = [];
    for (const { jobId } of jobs) {
      for (const { path, outcome } of await this.jobs.service.images(jobId)) {
        if (outcome?.status === 'ok') paths.push(path);
      }
    }
    return paths.sort();
  }

  /** Waits for these results, and that no other ones come. */
  async expectResults(paths: readonly string[], quietMs = 1_500): Promise<void> {
    const wanted = [...paths].sort().join();
    let last = '';
    await until(
      async () => (last = (await this.results()).join()) === wanted,
      `results ${wanted}`,
    ).catch((error: unknown) => {
      throw new Error(`${String(error)}; there are ${last}`);
    });
    await new Promise((resolve) => setTimeout(resolve, quietMs));
    last = (await this.results()).join();
    if (last !== wanted) throw new Error(`Results ${wanted} became ${last}`);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
    this.#data[Symbol.dispose]();
    this.#images[Symbol.dispose]();
  }
}
