/** The newest jobs, kept up to date by the events while the list is shown. */
import { signal } from '@preact/signals';
import type { JobList, JobStatus } from '../../client/records.js';
import { followJobs } from '../live/live.js';
import { api } from '../session/session.js';
import { JobTable } from './job-table.js';

const PAGE = 100;
/** Least time between two requests for the list, however many jobs arrive. */
const PACE_MS = 2_000;

/** Null until the first list came. */
export const jobs = signal<readonly JobStatus[] | null>(null);
export const hasMore = signal(false);
export const listFault = signal<unknown>(null);

const table = new JobTable();
let wanted = PAGE;
let isStale = false;
let isLoading = false;
let loadedAt = -Infinity;
let drawsSoon = false;

/** Requests the list: now, or when the pace allows it. */
export function refreshJobs(): void {
  isStale = true;
  look();
}

export function showOlder(): void {
  wanted += PAGE;
  refreshJobs();
}

/** The newest record of one job, as a route gave it. */
export function putJob(job: JobStatus): void {
  table.put(job);
  drawSoon();
}

/** Keeps the list current until the result is called. */
export function watchJobs(): () => void {
  const timer = setInterval(look, 1_000);
  const unfollow = followJobs({
    onEvent: (event) => {
      if (table.apply(event)) refreshJobs();
      drawSoon();
    },
    onUnknownPast: refreshJobs,
  });
  refreshJobs();
  return () => {
    clearInterval(timer);
    unfollow();
  };
}

function look(): void {
  const isEarly = performance.now() < loadedAt + PACE_MS;
  if (document.hidden || !isStale || isLoading || isEarly) return;
  void load();
}

async function load(): Promise<void> {
  isStale = false;
  isLoading = true;
  table.ask();
  try {
    const found = await list();
    table.show(found.jobs);
    hasMore.value = found.hasMore;
    listFault.value = null;
  } catch (error) {
    table.askFailed();
    listFault.value = error;
  }
  isLoading = false;
  loadedAt = performance.now();
  drawSoon();
}

async function list(): Promise<{ jobs: JobStatus[]; hasMore: boolean }> {
  const found: JobStatus[] = [];
  let cursor: string | null = null;
  do {
    const from: string = cursor === null ? '' : `&cursor=${encodeURIComponent(cursor)}`;
    const page: JobList = await api.get(`/v1/jobs?limit=${PAGE}${from}`);
    found.push(...page.jobs);
    cursor = page.next_cursor;
  } while (cursor !== null && found.length < wanted);
  return { jobs: found, hasMore: cursor !== null };
}

/** At most once per frame, however many events come. */
function drawSoon(): void {
  if (drawsSoon) return;
  drawsSoon = true;
  requestAnimationFrame(() => {
    drawsSoon = false;
    jobs.value = table.rows;
  });
}
