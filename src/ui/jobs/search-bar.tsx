/** Search terms and order of the list of jobs; all of it is in the address. */
import { useSignal, useSignalEffect } from '@preact/signals';
import { useRef } from 'preact/hooks';
import { FILTERS } from '../../api/job-filters.js';
import { address, goTo, setQuery } from '../address/location.js';
import { models } from '../models/models.js';
import { Button } from '../parts/button.js';
import { Icon } from '../parts/icon.js';
import { visible } from '../text/format.js';
import {
  SEARCH_ROWS,
  searchQuery,
  SORTS,
  withValue,
  type JobSearch,
  type SearchRow,
} from './job-search.js';

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
  return (
    <div class="search-bar" role="search">
      <WordsField />
      {SEARCH_ROWS.map((row) => (
        <Choice key={row.name} row={row} search={search} />
      ))}
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
      {SEARCH_ROWS.map((row) => (
        <Chip key={row.name} row={row} search={search} />
      ))}
    </div>
  );
}

interface ControlProps {
  row: SearchRow;
  search: JobSearch;
}

function Choice({ row: { page, ...row }, search }: ControlProps) {
  if (page.control !== 'choice') return null;
  const names = 'values' in row ? row.values : (models.value ?? []).map(({ name }) => name);
  const value = search[page.name];
  return (
    <select
      aria-label={page.label}
      value={value}
      onChange={({ currentTarget }) => open(search, { [page.name]: currentTarget.value })}
    >
      <option value="">{page.all}</option>
      {(value === '' || names.includes(value) ? names : [...names, value]).map((name) => (
        <option key={name}>{name}</option>
      ))}
    </select>
  );
}

function Chip({ row: { page }, search }: ControlProps) {
  const value = search[page.name];
  if (page.control !== 'chip' || value === '') return null;
  return (
    <Button
      icon="close"
      class="chip"
      name={`Show ${withValue(page.phraseWithout, value)} too`}
      onClick={() => open(search, { [page.name]: '' })}
    >
      {withValue(page.label, visible(value))}
    </Button>
  );
}

/** Back returns to the list as it was. */
function open(search: JobSearch, changes: Partial<JobSearch>): void {
  goTo({ screen: 'jobs' }, searchQuery({ ...search, ...changes }));
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
    if (address.peek().route.screen === 'jobs') setQuery({ q: typed.peek() });
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
        aria-label={FILTERS.words.page.label}
        placeholder="Name, path, tag or note"
        title="Words in names, paths, tags and notes ( / )"
        value={typed.value}
        maxLength={FILTERS.words.most}
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
