/** The jobs that are asked for, kept up to date by the events: each row is a signal of its own. */
import { signal, type Signal } from '@preact/signals';
import type { JobEvent, JobList, JobStatus } from '../../client/records.js';
import { followJobs } from '../live/live.js';
import { service } from '../session/session.js';
import { ALL_JOBS, isNewestFirst, searchFilter, type JobSearch } from './job-search.js';
import { JobTable } from './job-table.js';

export type StateCounts = Partial<Record<JobStatus['status'], number>>;

const PAGE = 100;
/** Least time between two requests for the list, however many jobs arrive. */
const PACE_MS = 2_000;
/** Events may come faster than they can be read, and each drawing takes the page's time. */
const DRAW_MS = 300;

/** Ids in the order of the list; null until the first list came. */
export const jobIds = signal<readonly string[] | null>(null);
/** The search that found the ids; another search may be under way. */
export const shownSearch = signal(ALL_JOBS);
export const counts = signal<StateCounts | null>(null);
export const hasMore = signal(false);
export const listFault = signal<unknown>(null);
/** Jobs that are not in the list yet. They come at once unless the list is held. */
export const newJobs = signal(0);

const table = new JobTable();
const rows = new Map<string, Signal<JobStatus>>();
const changed = new Set<string>();
let search = ALL_JOBS;
let wanted = PAGE;
let isStale = false;
let isLoading = false;
let loadedAt = -Infinity;
let drawTimer: ReturnType<typeof setTimeout> | undefined;
let isHeld: () => boolean = () => false;

export function rowOf(jobId: string): Signal<JobStatus> | undefined {
  return rows.get(jobId);
}

/** The rows before stay until those of this search are there. */
export function showSearch(next: JobSearch): void {
  if (JSON.stringify(search) === JSON.stringify(next)) return;
  search = next;
  wanted = PAGE;
  void load();
}

/** An answer of the service about one job, which no event tells. */
export function noteJob(job: JobStatus): void {
  table.set(job);
  const row = rows.get(job.job_id);
  if (row !== undefined) row.value = job;
}

/** The job is deleted. */
export function forgetJob(jobId: string): void {
  table.delete(jobId);
  jobIds.value = jobIds.peek()?.filter((each) => each !== jobId) ?? null;
  isStale = true;
}

/** Requests the list: now, or when the pace allows it and the list is not held. */
export function refreshJobs(): void {
  isStale = true;
  look();
}

export function showNewJobs(): void {
  newJobs.value = 0;
  void load();
}

export function showOlder(): void {
  wanted += PAGE;
  void load();
}

/** Keeps the list current until the result is called. While `held` is true no row comes or goes. */
export function watchJobs(held: () => boolean): () => void {
  isHeld = held;
  const timer = setInterval(look, 500);
  const unfollow = followJobs({ onEvent: apply, onUnknownPast: refreshJobs });
  refreshJobs();
  return () => {
    clearInterval(timer);
    clearTimeout(drawTimer);
    drawTimer = undefined;
    unfollow();
  };
}

function apply(event: JobEvent): void {
  if (table.apply(event) && isNewestFirst(search)) newJobs.value += 1;
  // The numbers of the tabs change with every state, the rows of a tab too.
  if (event.event !== 'job_progress') isStale = true;
  changed.add(event.job_id);
  drawTimer ??= setTimeout(draw, DRAW_MS);
}

function draw(): void {
  drawTimer = undefined;
  for (const jobId of changed) {
    const job = table.get(jobId);
    const row = rows.get(jobId);
    if (job !== undefined && row !== undefined) row.value = job;
  }
  changed.clear();
}

function look(): void {
  const isEarly = performance.now() < loadedAt + PACE_MS;
  if (document.hidden || !isStale || isLoading || isEarly || isHeld()) return;
  void load();
}

async function load(): Promise<void> {
  if (isLoading) {
    isStale = true;
    return;
  }
  const asked = search;
  isStale = false;
  isLoading = true;
  table.ask();
  try {
    const found = await list(asked);
    if (asked === search) show(found, asked);
    listFault.value = null;
  } catch (error) {
    table.askFailed();
    listFault.value = error;
  }
  isLoading = false;
  loadedAt = performance.now();
  // Something else was asked for meanwhile.
  if (asked !== search) void load();
}

function show(found: Awaited<ReturnType<typeof list>>, asked: JobSearch): void {
  table.show(found.jobs);
  const ids = table.rows.map(({ job_id }) => job_id);
  for (const job of table.rows) {
    const row = rows.get(job.job_id);
    if (row === undefined) rows.set(job.job_id, signal(job));
    else row.value = job;
  }
  const kept = new Set(ids);
  for (const jobId of rows.keys()) if (!kept.has(jobId)) rows.delete(jobId);
  shownSearch.value = asked;
  jobIds.value = ids;
  counts.value = found.counts;
  hasMore.value = found.hasMore;
  newJobs.value = 0;
}

async function list(asked: JobSearch) {
  const filter = searchFilter(asked);
  const jobs: JobStatus[] = [];
  let counted: StateCounts = {};
  let cursor: string | null = null;
  do {
    const page: JobList = await service.listPage({
      limit: PAGE,
      ...filter,
      ...(cursor === null ? { counts: 'true' } : { cursor }),
    });
    jobs.push(...page.jobs);
    counted = page.counts ?? counted;
    cursor = page.next_cursor;
  } while (cursor !== null && jobs.length < wanted);
  return { jobs, counts: counted, hasMore: cursor !== null };
}
