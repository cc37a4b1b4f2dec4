/** The jobs: by state, by search, in the order that is asked for. */
import { JOB_STATUSES } from '../../api/job-values.js';
import { useComputed, useSignal, useSignalEffect } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { hashOf } from '../address/address.js';
import { address, goTo } from '../address/location.js';
import { Button } from '../parts/button.js';
import { Empty } from '../parts/empty.js';
import { lazy } from '../parts/lazy.js';
import { Problem } from '../parts/problem.js';
import { useShortcuts } from '../parts/shortcuts.js';
import { Skeleton } from '../parts/skeleton.js';
import { useNow } from '../parts/use-now.js';
import { grouped, visible } from '../text/format.js';
import {
  counts,
  hasMore,
  jobIds,
  listFault,
  newJobs,
  refreshJobs,
  showNewJobs,
  showOlder,
  showSearch,
  shownSearch,
  watchJobs,
} from './job-list.js';
import { JobRow } from './job-row.js';
import {
  ALL_JOBS,
  isNewestFirst,
  nothingFound,
  readSearch,
  searchQuery,
  STATE_NAMES,
  type JobSearch,
} from './job-search.js';
import { SearchBar, searchJobs } from './search-bar.js';

/** Most visits submit no job. */
const SubmitDialog = lazy('Opening the form', async () => {
  const { SubmitDialog: loaded } = await import('./submit-dialog.js');
  return loaded;
});

/** Rows that are scrolled past must not move. */
const HELD_BELOW = 120;

export function JobsView() {
  const list = useRef<HTMLDivElement>(null);
  const isOpen = useSignal(false);
  const search = useComputed(() => readSearch(address.value.query));
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
    if (address.value.route.screen === 'jobs') showSearch(search.value);
  });
  useShortcuts('Jobs', [
    { keys: '/', title: 'Search', run: searchJobs },
    { keys: 'n', title: 'New job', run: () => (isOpen.value = true) },
    { keys: 'j', title: 'Next job', run: () => step(list.current, 1) },
    { keys: 'k', title: 'Job before', run: () => step(list.current, -1) },
  ]);
  return (
    <>
      <div class="jobs-top">
        <h1>Jobs</h1>
        <Button icon="plus" class="primary" onClick={() => (isOpen.value = true)}>
          New job
        </Button>
      </div>
      <SearchBar search={search.value} />
      <Tabs search={search.value} />
      {listFault.value !== null && (
        <Problem error={listFault.value}>
          <Button onClick={refreshJobs}>Try again</Button>
        </Problem>
      )}
      <NewPill />
      <div ref={list}>
        <Rows onNew={() => (isOpen.value = true)} />
      </div>
      {hasMore.value && (
        <p>
          <Button onClick={showOlder}>Show more jobs</Button>
        </p>
      )}
      {isOpen.value && (
        <SubmitDialog
          onClose={() => (isOpen.value = false)}
          onAccepted={(jobId) => {
            isOpen.value = false;
            goTo({ screen: 'job', jobId });
          }}
        />
      )}
    </>
  );
}

type State = JobSearch['state'];

function Tabs({ search }: { search: JobSearch }) {
  const known = counts.value;
  const all = known && Object.values(known).reduce((sum, each) => sum + each, 0);
  const tabs: [State, string, number | null | undefined][] = [
    [null, 'All', all],
    ...JOB_STATUSES.map((each): [State, string, number | undefined] => [
      each,
      STATE_NAMES[each],
      known?.[each],
    ]),
  ];
  return (
    <nav class="tabs" aria-label="States">
      {tabs.map(([each, name, count]) => (
        <a
          key={name}
          href={hashOf({ screen: 'jobs' }, searchQuery({ ...search, state: each }))}
          aria-current={each === search.state ? 'page' : undefined}
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
      <Button
        class="primary"
        onClick={() => {
          showNewJobs();
          window.scrollTo({ top: 0 });
        }}
      >
        {grouped(newJobs.value)} new
      </Button>
    </p>
  );
}

function Rows({ onNew }: { onNew: () => void }) {
  const ids = jobIds.value;
  const now = useNow(10_000);
  if (ids === null) {
    return listFault.value === null ? <Skeleton label="Reading the jobs" lines={6} /> : null;
  }
  const search = shownSearch.value;
  if (ids.length === 0) return <NoJobs search={search} onNew={onNew} />;
  return (
    <ul class="job-rows" aria-label={isNewestFirst(search) ? 'Jobs, newest first' : 'Jobs'}>
      {ids.map((jobId) => (
        <JobRow key={jobId} jobId={jobId} now={now} />
      ))}
    </ul>
  );
}

function NoJobs({ search, onNew }: { search: JobSearch; onNew: () => void }) {
  const all = searchQuery({ ...ALL_JOBS, sort: search.sort });
  if (JSON.stringify(all) !== JSON.stringify(searchQuery(search))) {
    return (
      <div role="status">
        <Empty icon="search" title={visible(nothingFound(search))}>
          <a class="button" href={hashOf({ screen: 'jobs' }, all)}>
            Clear the search
          </a>
        </Empty>
      </div>
    );
  }
  return (
    <Empty icon="jobs" title="There are no jobs yet">
      <p>A job runs over thousands of images, survives a restart, and keeps its boxes here.</p>
      <Button icon="plus" class="primary" onClick={onNew}>
        Submit the first one
      </Button>
    </Empty>
  );
}

/** Moves the focus through the rows. */
function step(list: HTMLElement | null, by: number): void {
  const links = [...(list?.querySelectorAll<HTMLElement>('.job-link') ?? [])];
  const at = links.findIndex((link) => link === document.activeElement);
  links[Math.max(0, Math.min(at + by, links.length - 1))]?.focus();
}
