/** The table of the newest jobs: one row per job, changed in place, drawn at most once per frame while it is visible. */
import type { Api } from './api.js';
import { element, named, setText } from './elements.js';
import { percent } from './format.js';
import { jobRow } from './job-row.js';
import { JobTable, hasEnded } from './job-table.js';
import { showProblem } from './problem-view.js';
import type { JobStatus, JobEvent, JobList } from '../client/records.js';

const PAGE = 100;
/** Least time between two requests for the list, however many jobs arrive. */
const PACE_MS = 2_000;

interface Row {
  element: HTMLTableRowElement;
  job: JobStatus | null;
  state: HTMLElement;
  progress: HTMLProgressElement;
  cells: HTMLElement[];
}

export class JobsView {
  readonly #api: Api;
  readonly #table = new JobTable();
  readonly #rows = new Map<string, Row>();
  readonly #onOpen: (job: JobStatus) => void;
  readonly #body = named('jobs-body', HTMLElement);
  readonly #problem = named('jobs-problem', HTMLElement);
  readonly #empty = named('jobs-empty', HTMLElement);
  readonly #more = named('jobs-more', HTMLButtonElement);
  #wanted = PAGE;
  #drawsSoon = false;
  #isStale = false;
  #loading = false;
  #loadedAt = -Infinity;

  constructor(api: Api, onOpen: (job: JobStatus) => void) {
    this.#api = api;
    this.#onOpen = onOpen;
    this.#more.addEventListener('click', () => {
      this.#wanted += PAGE;
      this.refresh();
    });
    named('jobs-refresh', HTMLButtonElement).addEventListener('click', () => {
      this.refresh();
    });
    document.addEventListener('visibilitychange', () => {
      this.look();
    });
    setInterval(() => {
      this.look();
    }, 1_000);
  }

  /** Requests the list: now, or when the pace allows it and the table is visible. */
  refresh(): void {
    this.#isStale = true;
    this.look();
  }

  /** Call when the table may have become visible. */
  look(): void {
    if (!this.#isSeen()) return;
    this.#drawSoon();
    if (!this.#isStale || this.#loading || performance.now() < this.#loadedAt + PACE_MS) return;
    void this.#load();
  }

  /** Call when the service can be reached again: a failed request for the list is repeated. */
  retry(): void {
    if (this.#problem.hasChildNodes()) this.refresh();
  }

  stop(): void {
    this.#isStale = false;
  }

  apply(event: JobEvent): void {
    if (this.#table.apply(event)) this.refresh();
    this.#drawSoon();
  }

  put(job: JobStatus): void {
    this.#table.put(job);
    this.#drawSoon();
  }

  async #load(): Promise<void> {
    this.#isStale = false;
    this.#loading = true;
    this.#table.ask();
    try {
      const { jobs, hasMore } = await this.#list();
      this.#table.show(jobs);
      this.#more.hidden = !hasMore;
      this.#empty.hidden = jobs.length > 0;
      this.#problem.replaceChildren();
    } catch (error) {
      this.#table.askFailed();
      showProblem(this.#problem, error);
    }
    this.#loading = false;
    this.#loadedAt = performance.now();
    this.#drawSoon();
  }

  async #list(): Promise<{ jobs: JobStatus[]; hasMore: boolean }> {
    const jobs: JobStatus[] = [];
    let cursor: string | null = null;
    do {
      const from: string = cursor === null ? '' : `&cursor=${encodeURIComponent(cursor)}`;
      const page: JobList = await this.#api.get(`/v1/jobs?limit=${PAGE}${from}`);
      jobs.push(...page.jobs);
      cursor = page.next_cursor;
    } while (cursor !== null && jobs.length < this.#wanted);
    return { jobs, hasMore: cursor !== null };
  }

  #isSeen(): boolean {
    return !document.hidden && this.#body.offsetParent !== null;
  }

  #drawSoon(): void {
    if (this.#drawsSoon || !this.#isSeen()) return;
    this.#drawsSoon = true;
    requestAnimationFrame(() => {
      this.#drawsSoon = false;
      this.#draw();
    });
  }

  #draw(): void {
    const now = Date.now() / 1000;
    const jobs = this.#table.rows;
    const shown = new Set(jobs.map(({ job_id }) => job_id));
    for (const [jobId, row] of this.#rows) {
      if (shown.has(jobId)) continue;
      row.element.remove();
      this.#rows.delete(jobId);
    }
    let next = this.#body.firstElementChild;
    for (const job of jobs) {
      const row = this.#rowOf(job.job_id);
      if (row.element === next) next = next.nextElementSibling;
      else this.#body.insertBefore(row.element, next);
      if (row.job !== job || !hasEnded(job)) fill(row, job, now);
    }
  }

  #rowOf(jobId: string): Row {
    const known = this.#rows.get(jobId);
    if (known !== undefined) return known;
    const row = emptyRow(jobId, () => {
      const job = this.#table.get(jobId);
      if (job !== undefined) this.#onOpen(job);
    });
    this.#rows.set(jobId, row);
    return row;
  }
}

function emptyRow(jobId: string, onOpen: () => void): Row {
  const open = element('button', { class: 'plain', type: 'button' }, jobId);
  open.addEventListener('click', onOpen);
  const state = element('span', { class: 'state' });
  const progress = element('progress', { max: '1' });
  const cells = Array.from({ length: 6 }, () => element('td'));
  const row = element(
    'tr',
    {},
    element('td', {}, open),
    element('td', {}, state),
    element('td', {}, progress),
    ...cells,
  );
  return { element: row, job: null, state, progress, cells };
}

function fill(row: Row, job: JobStatus, now: number): void {
  const shown = jobRow(job, now);
  const { images, type, priority, submitted, waited, took } = shown;
  row.job = job;
  row.state.className = `state ${job.status}`;
  setText(row.state, shown.state);
  row.progress.value = job.progress;
  row.progress.setAttribute('aria-label', percent(job.progress));
  for (const [index, text] of [images, type, priority, submitted, waited, took].entries()) {
    const cell = row.cells[index];
    if (cell !== undefined) setText(cell, text);
  }
}
