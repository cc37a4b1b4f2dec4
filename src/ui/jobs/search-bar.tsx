/** Search terms and order of the list of jobs; all of it is in the address. */
import { useSignal, useSignalEffect } from '@preact/signals';
import { useRef } from 'preact/hooks';
import { address, goTo, setQuery } from '../address/location.js';
import { models } from '../models/models.js';
import { Button } from '../parts/button.js';
import { Icon } from '../parts/icon.js';
import { visible } from '../text/format.js';
import { MOST_SEARCHED, searchQuery, SORTS, type JobSearch } from './job-search.js';

/** Pause in typing before the service is asked. */
const PAUSE_MS = 250;

const FIELD = 'job-search';

/** Moves the focus to the words. */
export function searchJobs(): void {
  const field = document.getElementById(FIELD);
  if (!(field instanceof HTMLInputElement)) return;
  field.focus();
  field.select();
}

export function SearchBar({ search }: { search: JobSearch }) {
  const names = models.value?.map(({ name }) => name) ?? [];
  const known = search.model === '' || names.includes(search.model);
  return (
    <div class="search-bar" role="search">
      <WordsField />
      <select
        aria-label="Model"
        value={search.model}
        onChange={({ currentTarget }) => open(search, { model: currentTarget.value })}
      >
        <option value="">All models</option>
        {(known ? names : [...names, search.model]).map((name) => (
          <option key={name}>{name}</option>
        ))}
      </select>
      <select
        aria-label="Order"
        value={search.sort}
        onChange={({ currentTarget }) => {
          open(search, { sort: currentTarget.value as JobSearch['sort'] });
        }}
      >
        {SORTS.map(([sort, name]) => (
          <option key={sort} value={sort}>
            {name}
          </option>
        ))}
      </select>
      {search.tag !== '' && (
        <Button
          icon="close"
          class="chip"
          name={`Show jobs without the tag ${search.tag} too`}
          onClick={() => open(search, { tag: '' })}
        >
          {visible(search.tag)}
        </Button>
      )}
      {search.watch !== '' && (
        <Button
          icon="close"
          class="chip"
          name={`Show jobs that the watch ${search.watch} did not make too`}
          onClick={() => open(search, { watch: '' })}
        >
          Watch {visible(search.watch)}
        </Button>
      )}
    </div>
  );
}

/** Back returns to the list as it was. */
function open(search: JobSearch, changes: Partial<JobSearch>): void {
  goTo({ view: 'jobs' }, searchQuery({ ...search, ...changes }));
}

function WordsField() {
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  const typed = useSignal(address.peek().query.q ?? '');
  // Back, or a link, has changed the address: what is being typed is not lost by an older one.
  useSignalEffect(() => {
    const { q = '' } = address.value.query;
    if (timer.current === undefined) typed.value = q;
  });
  const search = (): void => {
    clearTimeout(timer.current);
    timer.current = undefined;
    if (address.peek().place.view === 'jobs') setQuery({ q: typed.peek() });
  };
  return (
    <form
      class="search"
      onSubmit={(event) => {
        event.preventDefault();
        search();
      }}
    >
      <Icon name="search" />
      <input
        id={FIELD}
        type="search"
        aria-label="Search jobs"
        placeholder="Name, path, tag or note"
        title="Words in names, paths, tags and notes ( / )"
        value={typed.value}
        maxLength={MOST_SEARCHED}
        autocomplete="off"
        spellcheck={false}
        onInput={({ currentTarget }) => {
          typed.value = currentTarget.value;
          clearTimeout(timer.current);
          timer.current = setTimeout(search, PAUSE_MS);
        }}
        onKeyDown={({ key, currentTarget }) => {
          if (key === 'Escape') currentTarget.blur();
        }}
      />
    </form>
  );
}
