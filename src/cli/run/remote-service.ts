/** The service of a run that goes on elsewhere, through its client: it reads the same files at the same paths. */
import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { createHideFolders } from '../../answers/shown-problem.js';
import { LABELS } from '../../api/job-labels.js';
import { jobText } from '../../client/job-text.js';
import {
  ServiceError,
  type JobImages,
  type JobImagesQuery,
  type JobStatus,
  type JobSubmit,
  type LatticeClient,
} from '../../client/lattice-client.js';
import { relativeName, type ExportedImage, type ExportSource } from '../../export/export-source.js';
import { environmentName } from '../../settings/config.js';
import { settings as settingRows } from '../../settings/settings.js';
import { lockFolder } from '../../store/data-folder.js';
import { titleOfPaths, typedPaths } from '../../store/job-title.js';
import { settingsOf } from '../job/job-flags.js';
import { openClient } from '../job/open-client.js';
import { printable, type FailedImage } from '../output-text.js';
import { makesPictures, type PictureFlags } from '../picture-flags.js';
import { Refusal, UsageError } from '../terminal.js';
import { JobFeed, progressOfStatus } from './job-feed.js';
import { rootsOfNamed, type Named } from './named-files.js';
import { patiently } from './patiently.js';
import type { PicturesHere } from './pictures-here.js';
import { writeWhole } from './run-files.js';
import type {
  EndedRun,
  RunEvent,
  RunJob,
  RunPlace,
  RunRequest,
  RunResults,
  RunService,
  SubmittedPart,
} from './run-service.js';

/** A body of long paths stays below the limit of a service, and the first results come soon. */
const MOST_PER_JOB = 1_000;
const IMAGES_PER_PAGE = 500;
/** Folders that are looked for before the first job. */
const MOST_LOOKS = 20;
/** A report reads all images and draws some. */
const LONG = { deadlineMs: 3_600_000 };

type LimitName = 'maxImagesPerJob' | 'maxFileBytes' | 'maxPixels' | 'maxSide';

export function remotePlace(
  access: { service: string; apiKeyFile?: string },
  pictures: PictureFlags,
): RunPlace {
  return {
    stopping: 'Stopping. The jobs go on at the service, and the same command goes on with them.',
    async serve(request, stop, work) {
      const client = openClient({ url: access.service, apiKeyFile: access.apiKeyFile });
      const { named, terminal, folder } = request;
      const lock = lockedData(folder);
      try {
        await refuseUnseen(client, named);
        const feed = new JobFeed(client, await tagOfFolder(folder), { terminal, stop });
        const opening = { client, feed, request, signal: stop.signal };
        const service = await RemoteService.open(opening, pictures);
        try {
          await feed.follow(() => work(service));
        } finally {
          await service.close();
        }
      } finally {
        lock.close();
      }
    },
  };
}

/** Rejects with `UsageError` where the service does not read the folders of the run. */
async function refuseUnseen(client: LatticeClient, { folders, images }: Named): Promise<void> {
  const named = new Set([...folders, ...images.map(({ path }) => dirname(path))]);
  for (const under of [...named].slice(0, MOST_LOOKS)) {
    try {
      await client.folder({ under, limit: 1 });
    } catch (error) {
      if (!(error instanceof ServiceError) || !UNSEEN.has(error.code)) throw error;
      // The service tells of a folder, and of its setting that shows none.
      if (error.code === 'not_found' && error.detail.includes(environmentName('browse'))) return;
      throw new UsageError(
        `The service at ${client.url} does not read ${under}: ${error.detail} A run needs its files at the same path ` +
          'here and beneath the image folders of the service.',
      );
    }
  }
}

/** Two calls at once would submit the same files. Throws `Refusal` while another process has the folder. */
function lockedData(folder: string) {
  try {
    return lockFolder(join(folder, 'data'));
  } catch (error) {
    throw new Refusal((error as Error).message);
  }
}

const UNSEEN = new Set(['path_not_allowed', 'not_found', 'image_unreadable', 'validation_failed']);

const RECORD = 'service.json';

/** The tag of all jobs of a run folder: its name is kept there, whatever machine has mounted it. */
async function tagOfFolder(folder: string): Promise<string> {
  const path = join(folder, 'data', RECORD);
  const known = await readFile(path, 'utf8').catch(() => null);
  if (known !== null) return (JSON.parse(known) as { tag: string }).tag;
  const tag = `lattice-run-${randomBytes(6).toString('hex')}`;
  await writeWhole(path, [`${JSON.stringify({ tag })}\n`]);
  return tag;
}

interface Opening {
  client: LatticeClient;
  feed: JobFeed;
  request: RunRequest;
  signal: AbortSignal;
}

interface Opened extends Opening {
  settings: Omit<JobSubmit, 'image_paths' | 'metadata'>;
  imagesPerJob: number;
  /** Null where none are asked for. */
  pictures: PicturesHere | null;
}

class RemoteService implements RunService {
  readonly goesOn = true;
  readonly settings: string;
  readonly imagesPerJob: number;
  readonly #opened: Opened;
  readonly #client: LatticeClient;
  readonly #feed: JobFeed;

  private constructor(opened: Opened) {
    this.#opened = opened;
    this.#client = opened.client;
    this.#feed = opened.feed;
    this.imagesPerJob = opened.imagesPerJob;
    this.settings = JSON.stringify([opened.settings, opened.request.flags.metadata]);
  }

  static async open(opening: Opening, flags: PictureFlags): Promise<RemoteService> {
    const { client, request } = opening;
    const [models, { settings: shown }] = await Promise.all([client.models(), client.settings()]);
    const settings = settingsOf(request.flags);
    // The default of the service may be another model when the same command goes on.
    settings.model_name ??= models.find(({ is_default: isDefault }) => isDefault)?.name;
    const limit = (name: LimitName) => {
      const value = shown.find((each) => each.name === environmentName(name))?.value;
      return Number(value ?? settingRows[name].parse(undefined));
    };
    const imagesPerJob = Math.min(MOST_PER_JOB, limit('maxImagesPerJob'));
    return new RemoteService({ ...opening, settings, imagesPerJob, pictures: await pictures() });

    async function pictures(): Promise<PicturesHere | null> {
      if (!makesPictures(flags)) return null;
      // The libraries that make pictures are loaded for them alone.
      const library = await import('./pictures-here.js');
      const limits = {
        maxFileBytes: limit('maxFileBytes'),
        maxPixels: limit('maxPixels'),
        maxSide: limit('maxSide'),
      };
      return library.PicturesHere.open(flags, settings, rootsOfNamed(request.named), {
        models,
        limits,
      });
    }
  }

  async close(): Promise<void> {
    await this.#opened.pictures?.close();
  }

  async jobs(): Promise<RunJob[]> {
    const filter = { tag: this.#feed.tag, sort: '-submitted' } as const;
    const found = await this.#whole(() => this.#client.list(filter));
    for (const { job_id: jobId } of found) this.#feed.know(jobId);
    return found.map(runJob);
  }

  async get(jobId: string): Promise<RunJob> {
    return runJob(await this.#patiently(() => this.#client.status(jobId)));
  }

  async submit(imagePaths: string[], run: string): Promise<SubmittedPart> {
    const refused: FailedImage[] = [];
    let paths = imagePaths;
    while (paths.length > 0) {
      try {
        return { jobId: await this.#submit(paths, run), refused };
      } catch (error) {
        const faults = faultsOfPaths(error);
        refused.push(
          ...[...faults].map(([at, fault]) => ({ path: paths[at] ?? '', error: fault })),
        );
        paths = paths.filter((_, at) => !faults.has(at));
      }
    }
    return { jobId: null, refused };
  }

  #submit(imagePaths: string[], run: string): Promise<string> {
    const { request, settings } = this.#opened;
    const text = jobText(
      {
        ...settings,
        image_paths: imagePaths,
        // A folder expands here alone, where names that look like globs are files.
        literal_paths: true,
        name: jobName(request.named),
        tags: [this.#feed.tag, run],
        keep: true,
      },
      request.flags.metadata ?? null,
    );
    // Repeated with the same key, it makes no second job.
    const idempotencyKey = randomBytes(18).toString('hex');
    return this.#feed.submitted(async () => {
      const accepted = await this.#patiently(() => this.#client.submit(text, { idempotencyKey }));
      return accepted.job_id;
    });
  }

  async *paths(jobId: string): AsyncGenerator<string[], void> {
    let offset: number | null = 0;
    while (offset !== null) {
      const query: JobImagesQuery = { offset, limit: IMAGES_PER_PAGE };
      const page: JobImages = await this.#patiently(() => this.#client.images(jobId, query));
      yield page.images.map(({ image_path: path }) => path);
      offset = page.next_offset;
    }
  }

  async cancel(jobId: string): Promise<void> {
    const cancelled = () => this.#client.cancel(jobId).catch(refuseOther('job_already_finished'));
    await this.#patiently<unknown>(cancelled);
  }

  async remove(jobId: string): Promise<void> {
    const removed = () => this.#client.remove(jobId).catch(refuseOther('job_not_found'));
    await this.#patiently<unknown>(removed);
  }

  onEvent(listener: (event: RunEvent) => void): () => void {
    return this.#feed.listen(listener);
  }

  async failed(jobId: string, limit: number): Promise<FailedImage[]> {
    const query: JobImagesQuery = { outcome: 'failed', limit };
    const { images } = await this.#patiently(() => this.#client.images(jobId, query));
    return images.flatMap((image) =>
      image.status === 'error' ? [{ path: image.image_path, error: image.error }] : [],
    );
  }

  async results({ run, jobs }: EndedRun): Promise<RunResults> {
    const client = this.#client;
    const scope = { tag: run, by: 'folder_hour' } as const;
    const source = await this.#source(jobs);
    const { total } = await this.#patiently(() => client.countsOf({ tag: run, by: 'day' }, LONG));
    return {
      classes: new Map(Object.entries(total.class_counts)),
      network: null,
      report: await this.#whole(() => client.reportOf(run, LONG)),
      counts: await this.#whole(() => client.countsOfCsv(scope, LONG)),
      source,
      pictures: (await this.#opened.pictures?.sources(source)) ?? [],
    };
  }

  async #source(jobs: readonly [RunJob, ...RunJob[]]): Promise<ExportSource> {
    const client = this.#client;
    const first = await this.#patiently(() => client.status(jobs[0].jobId));
    const model = first.models.at(-1)?.model ?? first.model_name;
    const named = (await this.#patiently(() => client.models())).find(({ name }) => name === model);
    const imageRoots = rootsOfNamed(this.#opened.request.named);
    const hide = createHideFolders({ imageRoots, modelsDir: '', dataDir: '' });
    const imagesOf = ({ jobId }: RunJob) =>
      this.#whole(() => client.export(jobId, 'ndjson', LONG)).then(exportedImages);
    return {
      ...{ jobId: null, model, classes: named?.classes ?? [] },
      fileName: (path) => relativeName(hide(path)),
      pages: async function* () {
        for (const job of jobs) yield await imagesOf(job);
      },
    };
  }

  /** All that comes of a call: one that breaks off is made again from its beginning. */
  #whole<T>(call: () => AsyncIterable<T>): Promise<T[]> {
    return this.#patiently(async () => {
      const found: T[] = [];
      for await (const each of call()) found.push(each);
      return found;
    });
  }

  #patiently<T>(call: () => Promise<T>): Promise<T> {
    return patiently(call, this.#feed.tellConnection, this.#opened.signal);
  }
}

/** A label has no control characters, which names of folders may have. */
function jobName({ given }: Named): string {
  const title = printable(titleOfPaths(typedPaths(given)));
  return Array.from(title).slice(0, LABELS.name.most).join('');
}

const POINTER = /^#\/image_paths\/(\d+)$/;

/** The paths that a submission was refused for, by their places. Throws an error that is about something else. */
function faultsOfPaths(error: unknown): Map<number, FailedImage['error']> {
  if (!(error instanceof ServiceError)) throw error;
  const { code, errors } = error;
  if (code !== 'path_not_allowed' && code !== 'validation_failed') throw error;
  const faults = new Map<number, FailedImage['error']>();
  for (const { detail, pointer } of errors) {
    const [, at] = POINTER.exec(pointer ?? '') ?? [];
    if (at === undefined) throw error;
    faults.set(Number(at), { code, detail: detail.replace(`image_paths.${at}: `, '') });
  }
  if (faults.size === 0) throw error;
  return faults;
}

function runJob(job: JobStatus): RunJob {
  return {
    ...progressOfStatus(job),
    submittedAt: job.submitted_at,
    completedAt: job.completed_at,
    imageCount: job.image_count,
    finishedImages: job.finished_images,
    run: job.tags.find((tag) => tag.startsWith('run-')) ?? null,
  };
}

function refuseOther(code: ServiceError['code']): (error: unknown) => void {
  return (error) => {
    if (!(error instanceof ServiceError) || error.code !== code) throw error;
  };
}

/** The images of a job, of its export as JSON lines. */
function exportedImages(chunks: readonly Uint8Array[]): ExportedImage[] {
  const lines = Buffer.concat(chunks).toString().split('\n');
  return lines.filter((line) => line !== '').map((line) => JSON.parse(line) as ExportedImage);
}
