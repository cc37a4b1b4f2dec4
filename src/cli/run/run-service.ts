/**
 * The jobs of a run folder and what a run reads of them, at a service of this process or at one that runs elsewhere.
 */
import type { LeftOut } from '../../api/left-out.js';
import type { ExportSource } from '../../export/export-source.js';
import type { PictureSource } from '../../export/pictures.js';
import type { NetworkRates } from '../../report/words.js';
import type { Job, JobEvent } from '../../store/job.js';
import type { JobFlags } from '../job/job-flags.js';
import type { FailedImage } from '../output-text.js';
import type { Terminal } from '../terminal.js';
import type { Named } from './named-files.js';

export interface RunJob extends Pick<
  Job,
  | 'jobId'
  | 'submittedAt'
  | 'completedAt'
  | 'imageCount'
  | 'finishedImages'
  | 'failedImages'
  | 'reusedImages'
> {
  /** The tag that all jobs of a run have; null where the job has none. */
  run: string | null;
}

export type RunEvent = Pick<
  JobEvent,
  'event' | 'jobId' | 'progress' | 'failedImages' | 'reusedImages'
>;

export interface EndedRun {
  run: string;
  /** In the order of their submission; at least one. */
  jobs: readonly [RunJob, ...RunJob[]];
  /** Files of the folders that are no pictures of a run. */
  leftOut: LeftOut;
  /** Images that this call has run, and the time that it took. */
  ran: number;
  seconds: number;
}

type Pieces = AsyncIterable<string | Uint8Array> | readonly (string | Uint8Array)[];

export interface RunResults {
  /** Boxes by class. */
  classes: ReadonlyMap<string, number>;
  /** Null: not measured. */
  network: NetworkRates | null;
  report: Pieces;
  counts: Pieces;
  /** The images of all jobs as those of one. */
  source: ExportSource;
  pictures: readonly PictureSource[];
}

export interface SubmittedPart {
  /** Null where all paths were refused. */
  jobId: string | null;
  /** Paths that no job can have, such as one that is too long; they are not in the job. */
  refused: readonly FailedImage[];
}

/** Every method rejects with the error of the service. */
export interface RunService {
  /** A text of the settings of its jobs: a run goes on only with jobs of the same settings. */
  readonly settings: string;
  readonly imagesPerJob: number;
  /** True: jobs go on when this process has ended. */
  readonly goesOn: boolean;
  /** All jobs of the run folder, the first submitted first. */
  jobs(): Promise<RunJob[]>;
  get(jobId: string): Promise<RunJob>;
  /** Resolves when the job is on disk. */
  submit(imagePaths: string[], run: string): Promise<SubmittedPart>;
  /** The paths of the images of a job, in pages. */
  paths(jobId: string): AsyncIterable<readonly string[]>;
  /** Ends the job where it has not ended. */
  cancel(jobId: string): Promise<void>;
  remove(jobId: string): Promise<void>;
  /** Listeners get the events of the jobs of this run folder. */
  onEvent(listener: (event: RunEvent) => void): () => void;
  /** The first failed images of the job. */
  failed(jobId: string, most: number): Promise<FailedImage[]>;
  results(ended: EndedRun): Promise<RunResults>;
}

/** A run, wherever its service is. */
export interface RunRequest {
  named: Named;
  /** The run folder. */
  folder: string;
  flags: JobFlags & { reuse?: string };
  terminal: Terminal;
}

export interface RunPlace {
  /** A sentence for people who end the command. */
  stopping: string;
  /** Resolves as `work`, when the service is closed. */
  serve: (
    request: RunRequest,
    stop: AbortController,
    work: (service: RunService) => Promise<void>,
  ) => Promise<void>;
}
