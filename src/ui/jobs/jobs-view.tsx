/** The newest jobs, by state. */
import { useComputed, useSignal, useSignalEffect } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import type { JobStatus } from '../../client/records.js';
import { hashOf } from '../address/address.js';
import { address, goTo } from '../address/location.js';
import { paceText } from '../job/pace.js';
import { Empty } from '../parts/empty.js';
import { Foreign } from '../parts/foreign.js';
import { Icon } from '../parts/icon.js';
import { Problem } from '../parts/problem.js';
import { useShortcuts } from '../parts/shortcuts.js';
import { Skeleton } from '../parts/skeleton.js';
import { ago, clock, duration, grouped, percent, plural } from '../text/format.js';
import {
  counts,
  hasMore,
  jobIds,
  listFault,
  newJobs,
  refreshJobs,
  rowOf,
  showNewJobs,
  showOlder,
  showState,
  watchJobs,
  type StateFilter,
} from './job-list.js';
import { hasEnded } from './job-table.js';
import { StatePill } from './state-pill.js';
import { SubmitDialog } from './submit-dialog.js';

const STATES = ['pending', 'running', 'completed', 'failed'] as const;
/** Rows that are scrolled past must not move. */
const HELD_BELOW = 120;

export function JobsView() {
  const list = useRef<HTMLDivElement>(null);
  const isOpen = useSignal(false);
  const state = useComputed(
    (): StateFilter => STATES.find((each) => each === address.value.query.state) ?? null,
  );
  useEffect(
    () =>
      watchJobs(
        () =>
          window.scrollY > HELD_BELOW ||
          (list.current?.querySelector(':focus-visible') ?? null) !== null,
      ),
    [],
  );
  useSignalEffect(() => {
    showState(state.value);
  });
  useShortcuts('Jobs', [
    { keys: 'n', title: 'New job', run: () => (isOpen.value = true) },
    {
      keys: 'j',
      title: 'Next job',
      run: () => {
        step(list.current, 1);
      },
    },
    {
      keys: 'k',
      title: 'Job before',
      run: () => {
        step(list.current, -1);
      },
    },
  ]);
  return (
    <>
      <div class="jobs-top">
        <h1>Jobs</h1>
        <button type="button" class="primary" onClick={() => (isOpen.value = true)}>
          <Icon name="plus" /> New job
        </button>
      </div>
      <Tabs state={state.value} />
      {listFault.value !== null && (
        <Problem error={listFault.value}>
          <button type="button" onClick={refreshJobs}>
            Try again
          </button>
        </Problem>
      )}
      <NewPill />
      <div ref={list}>
        <Rows state={state.value} onNew={() => (isOpen.value = true)} />
      </div>
      {hasMore.value && (
        <p>
          <button type="button" onClick={showOlder}>
            Show older jobs
          </button>
        </p>
      )}
      {isOpen.value && (
        <SubmitDialog
          onClose={() => (isOpen.value = false)}
          onAccepted={(jobId) => {
            isOpen.value = false;
            goTo({ view: 'job', jobId });
          }}
        />
      )}
    </>
  );
}

function Tabs({ state }: { state: StateFilter }) {
  const known = counts.value;
  const all = known && Object.values(known).reduce((sum, each) => sum + each, 0);
  const tabs: [StateFilter, string, number | null | undefined][] = [
    [null, 'All', all],
    ...STATES.map((each): [StateFilter, string, number | undefined] => [
      each,
      each.charAt(0).toUpperCase() + each.slice(1),
      known?.[each],
    ]),
  ];
  return (
    <nav class="tabs" aria-label="States">
      {tabs.map(([each, name, count]) => (
        <a
          key={name}
          href={hashOf({ view: 'jobs' }, { state: each ?? '' })}
          aria-current={each === state ? 'page' : undefined}
        >
          {name} <span class="tab-count">{typeof count === 'number' ? grouped(count) : ''}</span>
        </a>
      ))}
    </nav>
  );
}

/** Rows do not jump under the reader: what is new waits here. */
function NewPill() {
  if (newJobs.value === 0 || jobIds.value === null) return null;
  return (
    <p class="new-pill">
      <button
        type="button"
        class="primary"
        onClick={() => {
          showNewJobs();
          window.scrollTo({ top: 0 });
        }}
      >
        {grouped(newJobs.value)} new
      </button>
    </p>
  );
}

function Rows({ state, onNew }: { state: StateFilter; onNew: () => void }) {
  const ids = jobIds.value;
  const now = useNow();
  if (ids === null) {
    return listFault.value === null ? <Skeleton label="Reading the jobs" lines={6} /> : null;
  }
  if (ids.length === 0) return <NoJobs state={state} onNew={onNew} />;
  return (
    <ul class="job-rows" aria-label="Jobs, newest first">
      {ids.map((jobId) => (
        <Row key={jobId} jobId={jobId} now={now} />
      ))}
    </ul>
  );
}

function NoJobs({ state, onNew }: { state: StateFilter; onNew: () => void }) {
  if (state !== null) {
    return (
      <Empty icon="search" title={`No job is ${state}`}>
        <a href="#/jobs">Show all jobs</a>
      </Empty>
    );
  }
  return (
    <Empty icon="jobs" title="There are no jobs yet">
      <p>A job runs over thousands of images, survives a restart, and keeps its boxes here.</p>
      <button type="button" class="primary" onClick={onNew}>
        <Icon name="plus" /> Submit the first one
      </button>
    </Empty>
  );
}

function Row({ jobId, now }: { jobId: string; now: number }) {
  const job = rowOf(jobId)?.value;
  if (job === undefined) return null;
  const isOpen = !hasEnded(job);
  return (
    <li>
      <a class="job-row" href={hashOf({ view: 'job', jobId })}>
        <StatePill status={job.status} />
        <span class="job-name">
          <b>
            <Foreign text={job.title} />
          </b>
          <span class="fine">
            {job.job_type} · …{jobId.slice(-6)}
          </span>
        </span>
        <span class="job-bar">
          <progress
            max="1"
            value={job.progress}
            class={job.status}
            aria-label={percent(job.progress)}
          />
          <span>
            {isOpen && `${grouped(job.finished_images)} / `}
            {plural(job.image_count, 'image')}
            {job.failed_images > 0 && (
              <span class="bad">, {grouped(job.failed_images)} failed</span>
            )}
          </span>
        </span>
        <span class="job-pace fine">
          {job.status === 'pending' ? 'waiting' : paceText(job, isOpen ? Date.now() / 1000 : now)}
        </span>
        <span class="job-age fine" title={clock(job.submitted_at, now)}>
          {ago(now - job.submitted_at)}
          {tookText(job)}
        </span>
        <Icon name="right" />
      </a>
    </li>
  );
}

function tookText({ started_at, completed_at }: JobStatus): string {
  if (started_at === null || completed_at === null) return '';
  return `, took ${duration(completed_at - started_at)}`;
}

/** Unix seconds, for the ages: they need not be exact. */
function useNow(): number {
  const now = useSignal(Date.now() / 1000);
  useEffect(() => {
    const timer = setInterval(() => (now.value = Date.now() / 1000), 10_000);
    return () => {
      clearInterval(timer);
    };
  }, [now]);
  return now.value;
}

/** Moves the focus through the rows. */
function step(list: HTMLElement | null, by: number): void {
  const links = [...(list?.querySelectorAll<HTMLElement>('.job-row') ?? [])];
  const at = links.findIndex((link) => link === document.activeElement);
  links[Math.max(0, Math.min(at + by, links.length - 1))]?.focus();
}
