/** One job: its record, its result, and the buttons that cancel it or run its failed images again. */
import type { Api } from './api.js';
import { element, facts, foreign, named, setText, table } from './elements.js';
import { clock } from './format.js';
import { resultSummary } from './image-facts.js';
import { jobRow } from './job-row.js';
import { afterEvent, hasEnded } from './job-table.js';
import { problemView, showProblem } from './problem-view.js';
import type { JobStatus, JobEvent, JobResult, JobRetried } from '../client/records.js';

const IMAGES_SHOWN = 20;
/** A longer result is many megabytes: it is fetched when it is asked for. */
const MOST_UNASKED = 1_000;

export class JobDialog {
  readonly #api: Api;
  readonly #onRecord: (job: JobStatus) => void;
  readonly #dialog = named('job', HTMLDialogElement);
  readonly #heading = named('job-heading', HTMLElement);
  readonly #cancel = named('job-cancel', HTMLButtonElement);
  readonly #retry = named('job-retry', HTMLButtonElement);
  readonly #problem = named('job-problem', HTMLElement);
  readonly #facts = named('job-facts', HTMLElement);
  readonly #result = named('job-result', HTMLElement);
  #job: JobStatus | null = null;

  /** `onRecord` is told each record that is fetched. */
  constructor(api: Api, onRecord: (job: JobStatus) => void) {
    this.#api = api;
    this.#onRecord = onRecord;
    this.#cancel.addEventListener('click', () => {
      void this.#fetch((path) => this.#api.delete<JobStatus>(path));
    });
    this.#retry.addEventListener('click', () => {
      void this.#retryFailed();
    });
    named('job-close', HTMLButtonElement).addEventListener('click', () => {
      this.close();
    });
    this.#dialog.addEventListener('close', () => {
      this.#job = null;
    });
    setInterval(() => {
      if (this.#job !== null && !hasEnded(this.#job)) this.#showFacts(this.#job);
    }, 1_000);
  }

  open(job: JobStatus): void {
    this.#problem.replaceChildren();
    this.#result.replaceChildren();
    this.#show(job);
    if (!this.#dialog.open) this.#dialog.showModal();
    void this.#fetchStatus();
  }

  close(): void {
    this.#dialog.close();
  }

  apply(event: JobEvent): void {
    if (this.#job?.job_id !== event.job_id || hasEnded(this.#job)) return;
    this.#show(afterEvent(this.#job, event));
    if (hasEnded(this.#job)) void this.#fetchStatus();
  }

  #fetchStatus(): Promise<void> {
    return this.#fetch((path) => this.#api.get<JobStatus>(`${path}/status`));
  }

  /** Shows the record that `call` gives, unless another job was opened meanwhile. */
  async #fetch(call: (path: string) => Promise<JobStatus>): Promise<void> {
    const jobId = this.#job?.job_id;
    if (jobId === undefined) return;
    try {
      const job = await call(pathOf(jobId));
      this.#onRecord(job);
      if (this.#isOpen(jobId)) this.#show(job);
    } catch (error) {
      if (this.#isOpen(jobId)) showProblem(this.#problem, error);
    }
  }

  /** Opens the new job. */
  async #retryFailed(): Promise<void> {
    const jobId = this.#job?.job_id;
    if (jobId === undefined) return;
    this.#retry.disabled = true;
    try {
      const { job_id } = await this.#api.post<JobRetried>(`${pathOf(jobId)}/retry`, {});
      const job = await this.#api.get<JobStatus>(`${pathOf(job_id)}/status`);
      if (this.#isOpen(jobId)) this.open(job);
    } catch (error) {
      if (this.#isOpen(jobId)) showProblem(this.#problem, error);
    }
    this.#retry.disabled = false;
  }

  #isOpen(jobId: string): boolean {
    return this.#job?.job_id === jobId;
  }

  #show(job: JobStatus): void {
    this.#job = job;
    this.#showFacts(job);
    setText(this.#heading, job.job_id);
    this.#cancel.hidden = hasEnded(job);
    this.#retry.hidden = !hasEnded(job) || (job.status === 'completed' && job.failed_images === 0);
    if (!hasEnded(job) || this.#result.hasChildNodes()) return;
    if (job.image_count <= MOST_UNASKED) void this.#showResult(job.job_id);
    else this.#offerResult(job);
  }

  #showFacts(job: JobStatus): void {
    this.#facts.replaceChildren(factsOf(job));
    if (job.error !== null) this.#facts.append(problemView(job.error));
  }

  #offerResult({ job_id, image_count }: JobStatus): void {
    const label = `Fetch the result of ${image_count} images`;
    const button = element('button', { type: 'button' }, label);
    button.addEventListener('click', () => {
      button.disabled = true;
      void this.#showResult(job_id);
    });
    this.#result.replaceChildren(button);
  }

  async #showResult(jobId: string): Promise<void> {
    try {
      const result = await this.#api.get<JobResult>(`${pathOf(jobId)}/result`);
      if (this.#isOpen(jobId)) this.#result.replaceChildren(...resultParts(result));
    } catch (error) {
      if (this.#isOpen(jobId)) showProblem(this.#result, error);
    }
  }
}

function pathOf(jobId: string): string {
  return `/v1/jobs/${encodeURIComponent(jobId)}`;
}

function factsOf(job: JobStatus): HTMLElement {
  const now = Date.now() / 1000;
  const row = jobRow(job, now);
  const time = (at: number | null): string => (at === null ? 'not yet' : clock(at, now));
  const webhooks = (job.webhooks ?? []).map(({ state, attempts, last_status, last_error }) => {
    const last = last_error ?? last_status;
    return [
      'Webhook',
      foreign(`${state}, ${attempts} attempts${last === null ? '' : `, ${last}`}`),
    ] as const;
  });
  return facts([
    ['State', element('span', { class: `state ${job.status}` }, row.state)],
    ['Images', row.images],
    ['Type', row.type],
    ...(job.retry_of === null ? [] : [['Retry of', foreign(job.retry_of)] as const]),
    ['Priority', row.priority],
    ['Submitted', row.submitted],
    ['Started', time(job.started_at)],
    ['Ended', time(job.completed_at)],
    ['Waited', row.waited],
    ['Took', row.took || 'not yet'],
    ['Worker', foreign(job.worker_id || 'none yet')],
    ...webhooks,
  ]);
}

function resultParts(result: JobResult): HTMLElement[] {
  const { summary, rows } = resultSummary(result, IMAGES_SHOWN);
  const images = rows.map(({ path, outcome }) => [foreign(path), foreign(outcome)]);
  const parts: HTMLElement[] = [element('h3', {}, 'Result'), element('p', {}, foreign(summary))];
  if (images.length > 0) parts.push(table('Images', ['Path', 'Found'], images));
  if (result.metadata !== null) {
    const lines = JSON.stringify(result.metadata, null, 2).split('\n');
    const shown = element('pre', {}, ...lines.flatMap((line) => [foreign(line), '\n']));
    parts.push(element('h3', {}, 'Metadata'), shown);
  }
  return parts;
}
