/** The service of a run in its own process: without a port, with a store in the run folder. */
import { join } from 'node:path';
import { createHideFolders, type HideFolders } from '../../answers/shown-problem.js';
import { toLatticeError } from '../../api/errors.js';
import { NO_LABELS } from '../../api/job-labels.js';
import { Releases } from '../../base/releases.js';
import type { ExportSource } from '../../export/export-source.js';
import { ModelCatalogue } from '../../http/model-catalogue.js';
import { validate } from '../../http/request/validation.js';
import { ALL_BOXES } from '../../http/routes/count-scope.js';
import { countsFile, sumText } from '../../http/routes/jobs/count-texts.js';
import {
  pictureDrawer,
  pictureSource,
  type ChosenPictures,
} from '../../http/routes/jobs/picture-maker.js';
import { createReadSettings, jobSubmitSchema } from '../../http/routes/jobs/read-submission.js';
import { exportPages, exportSource } from '../../http/routes/jobs/result.js';
import type { CountSums } from '../../jobs/count-sums.js';
import type { JobService } from '../../jobs/job-service.js';
import { listedJobs } from '../../jobs/listed-jobs.js';
import { jobsReport } from '../../report/jobs-report.js';
import type { NetworkRates } from '../../report/words.js';
import { openParts } from '../../service/open-parts.js';
import { endAtOnce } from '../../service/shutdown.js';
import type { Config } from '../../settings/config.js';
import { openServiceStore } from '../../store/open-store.js';
import type { Job, SharedSettings } from '../../store/job.js';
import { typedPaths } from '../../store/job-title.js';
import { chosenPictures } from '../chosen-pictures.js';
import { settingsOf } from '../job/job-flags.js';
import type { FailedImage } from '../output-text.js';
import type { PictureFlags } from '../picture-flags.js';
import { terminalLogger } from '../terminal-logger.js';
import { Refusal } from '../terminal.js';
import { rootsOfNamed, type Named } from './named-files.js';
import { networkAlone } from './network-alone.js';
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

type Parts = Awaited<ReturnType<typeof openParts>>;

export function embeddedPlace(given: Config, pictures: PictureFlags, verbose: boolean): RunPlace {
  return {
    stopping: 'Stopping after the images that have begun. Ctrl-C again stops at once.',
    async serve({ named, folder, flags, terminal }, stop, work) {
      const config = configOfRun(given, named, folder);
      const logger = terminalLogger(terminal, verbose);
      const releases = new Releases(logger, config.drainSeconds * 1_000);
      const lost = (what: string) => () => {
        stop.abort(new Refusal(`The run has lost ${what}. The same command goes on.`));
      };
      try {
        const onStoreLost = lost('its store');
        const options = {
          ...(flags.model !== undefined && { mainModel: flags.model }),
          onGpuLost: lost('its GPU'),
          store: openServiceStore({ config, logger, releases, onStoreLost }),
        };
        const parts = await openParts(config, logger, releases, stop.signal, options);
        await parts.cluster.loaded;
        parts.jobs.start();
        const settings = await settingsOfRun(parts, config, flags);
        const catalogue = new ModelCatalogue(parts.models.detector);
        const chosen = await chosenPictures(pictures, settings.options, catalogue);
        await work(new EmbeddedService({ parts, config, settings, chosen, given: named.given }));
      } finally {
        if (!(await releases.releaseAll())) endAtOnce(logger);
      }
    },
  };
}

/** The service of a run answers its own command alone. */
function configOfRun(config: Config, named: Named, folder: string): Config {
  return {
    ...config,
    env: 'development',
    apiKeysFile: '',
    cluster: 'local',
    imageRoots: rootsOfNamed(named),
    dataDir: join(folder, 'data'),
    storeMaxMb: 0,
    uploadsMaxMb: 0,
    canaryMinutes: 0,
  };
}

async function settingsOfRun(
  { models, views }: Parts,
  config: Config,
  flags: RunRequest['flags'],
): Promise<SharedSettings> {
  const schema = jobSubmitSchema.omit({ image_paths: true, literal_paths: true, upload: true });
  const { metadata } = flags;
  const body = validate(schema, {
    ...settingsOf(flags),
    ...(metadata !== undefined && { metadata: JSON.parse(metadata) as unknown }),
  });
  const readSettings = createReadSettings({ config, views }, new ModelCatalogue(models.detector));
  return readSettings(body, () => metadata, null);
}

interface Served {
  parts: Parts;
  config: Config;
  settings: SharedSettings;
  chosen: readonly ChosenPictures[];
  /** As the command line names the files. */
  given: readonly string[];
}

class EmbeddedService implements RunService {
  readonly goesOn = false;
  readonly settings: string;
  readonly imagesPerJob: number;
  readonly #served: Served;
  readonly #jobs: JobService;
  readonly #hide: HideFolders;

  constructor(served: Served) {
    this.#served = served;
    this.#jobs = served.parts.jobs.service;
    this.#hide = createHideFolders(served.config);
    this.settings = JSON.stringify([served.settings, served.config.positions]);
    this.imagesPerJob = served.config.maxImagesPerJob;
  }

  async jobs(): Promise<RunJob[]> {
    const found: RunJob[] = [];
    for await (const job of listedJobs(this.#jobs, {})) found.push(runJob(job));
    return found;
  }

  async get(jobId: string): Promise<RunJob> {
    return runJob(await this.#jobs.get(jobId, null));
  }

  async submit(imagePaths: string[], run: string): Promise<SubmittedPart> {
    const labels = { ...NO_LABELS, tags: [run], keep: true as const };
    const spec = { ...this.#served.settings, labels, imagePaths, typed: typedPaths(imagePaths) };
    return { jobId: (await this.#jobs.submit(spec)).job.jobId, refused: [] };
  }

  async *paths(jobId: string): AsyncGenerator<string[], void> {
    for await (const page of this.#jobs.statePages(jobId)) yield page.map(({ path }) => path);
  }

  async cancel(jobId: string): Promise<void> {
    await this.#jobs.cancel(jobId, null).catch((error: unknown) => {
      if (toLatticeError(error).code !== 'job_already_finished') throw error;
    });
  }

  remove(jobId: string): Promise<void> {
    return this.#jobs.remove(jobId, null);
  }

  onEvent(listener: (event: RunEvent) => void): () => void {
    return this.#jobs.onEvent(listener);
  }

  async failed(jobId: string, limit: number): Promise<FailedImage[]> {
    const job = await this.#jobs.get(jobId, null);
    const page = { offset: 0, limit };
    const { entries } = await this.#jobs.filteredImages(job, { outcome: 'failed' }, page);
    return entries.flatMap(({ path, outcome }) =>
      outcome?.status === 'error' ? [{ path, error: outcome.error }] : [],
    );
  }

  async results(ended: EndedRun): Promise<RunResults> {
    const [first, ...more] = ended.jobs;
    const get = ({ jobId }: RunJob) => this.#jobs.get(jobId, null);
    const jobs: [Job, ...Job[]] = [await get(first), ...(await Promise.all(more.map(get)))];
    const scope = { jobs: { keyId: null, tag: ended.run } };
    const counts = await this.#jobs.countsOf(scope, ALL_BOXES, null, null);
    const network = await this.#network(jobs, ended);
    const source = await this.#source(jobs);
    const { chosen } = this.#served;
    // Folders have the names that they have on this machine.
    const text = sumText('folder_hour', counts, (folder) => folder);
    return {
      ...{ classes: counts.total.classes, network, source },
      report: [await this.#report(jobs, ended, { network, counts })],
      counts: countsFile(text, 'run').lines,
      pictures: chosen.map((each) => pictureSource(jobs[0], source, each, this.#making)),
    };
  }

  /** Parts that make pictures. */
  get #making() {
    return { ...this.#served.parts, hide: this.#hide, draining: () => false };
  }

  async #network(jobs: readonly [Job, ...Job[]], { ran, seconds }: EndedRun) {
    const { detector } = this.#served.parts.models;
    const { options } = jobs[0].spec;
    const parts = { detector, images: this.#jobs, options };
    const alone = await networkAlone(parts, jobs, { ran, seconds });
    return alone === null ? null : { alone, run: ran / seconds };
  }

  #report(
    jobs: readonly [Job, ...Job[]],
    { leftOut }: EndedRun,
    { network, counts }: { network: NetworkRates | null; counts: CountSums },
  ): Promise<string> {
    const { parts, given } = this.#served;
    const facts = { labels: NO_LABELS, typed: typedPaths(given), leftOut, network };
    const hide = this.#hide;
    return jobsReport(
      { jobs, run: facts, images: this.#jobs, counts, question: {}, keyId: null },
      {
        ...{ jobs: this.#jobs, detector: parts.models.detector, hide },
        version: parts.shared.version,
        draw: pictureDrawer(jobs[0], this.#making),
      },
    );
  }

  async #source(jobs: readonly [Job, ...Job[]]): Promise<ExportSource> {
    const service = this.#jobs;
    const hide = this.#hide;
    const { detector } = this.#served.parts.models;
    const first = await exportSource(jobs[0], service, { detector, hide });
    return {
      ...first,
      jobId: null,
      pages: async function* () {
        for (const job of jobs) yield* exportPages(job, service, hide);
      },
    };
  }
}

const runJob = (job: Job): RunJob => ({ ...job, run: job.spec.labels.tags[0] ?? null });
