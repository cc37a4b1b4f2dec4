/** Chooses pictures, or folders of them, from what the service can read. */
import { useComputed, useSignal, useSignalEffect, type Signal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { Button } from '../parts/button.js';
import { Empty } from '../parts/empty.js';
import { Foreign } from '../parts/foreign.js';
import { Icon } from '../parts/icon.js';
import { Modal } from '../parts/modal.js';
import { Problem } from '../parts/problem.js';
import { Skeleton } from '../parts/skeleton.js';
import { Thumbnail } from '../picture/thumbnail.js';
import { service } from '../session/session.js';
import { plural, visible } from '../text/format.js';
import { folderOf, folderTrail, type FolderEntry } from './folder.js';

interface ImagePickerProps {
  title: string;
  onClose: () => void;
  /** Paths of pictures; with `several` also of folders. */
  onPick: (paths: string[]) => void;
  several?: boolean;
}

/** The picker opens where it was closed. */
let lastFolder = '';

export function ImagePicker({ title, onClose, onPick, several = false }: ImagePickerProps) {
  const folder = useSignal(lastFolder);
  const search = useSignal('');
  const chosen = useSignal<ReadonlySet<string>>(new Set());
  const { listing, more } = useListing(folder, search);
  const matches = useComputed(() => {
    const wanted = search.value.trim().toLowerCase();
    return listing.value.entries.filter(({ name }) => name.toLowerCase().includes(wanted));
  });
  const openFolder = (path: string): void => {
    lastFolder = path;
    search.value = '';
    folder.value = path;
  };
  const toggle = (path: string): void => {
    const next = new Set(chosen.peek());
    if (!next.delete(path)) next.add(path);
    chosen.value = next;
  };
  const press = ({ type, path }: FolderEntry): void => {
    if (type === 'folder') openFolder(path);
    else if (several) toggle(path);
    else onPick([path]);
  };
  return (
    <Modal title={title} onClose={onClose} wide>
      <div class="picker-bar">
        <Trail path={folder.value} onOpen={openFolder} />
        <label class="search">
          <Icon name="search" />
          <input
            type="search"
            aria-label="Search in this folder"
            placeholder="Search in this folder"
            value={search.value}
            onInput={({ currentTarget }) => (search.value = currentTarget.value)}
          />
        </label>
      </div>
      <Entries
        listing={listing.value}
        onMore={more}
        matches={matches.value}
        search={search.value}
        chosen={chosen.value}
        onPress={press}
        onUp={() => openFolder(folderOf(folder.peek()))}
      />
      {several && (
        <footer class="row picker-foot">
          <Button
            class="primary"
            disabled={chosen.value.size === 0}
            onClick={() => onPick([...chosen.peek()])}
          >
            Use {plural(chosen.value.size, 'picture')}
          </Button>
          {folder.value !== '' && (
            <Button onClick={() => onPick([folder.peek()])}>Use the whole folder</Button>
          )}
        </footer>
      )}
    </Modal>
  );
}

function Trail({ path, onOpen }: { path: string; onOpen: (path: string) => void }) {
  const trail = [{ name: 'All folders', path: '' }, ...folderTrail(path)];
  return (
    <nav class="trail" aria-label="Folders above">
      {trail.map(({ name, path: each }, index) => (
        <Button
          key={each}
          class="quiet"
          aria-current={index === trail.length - 1 ? 'location' : undefined}
          onClick={() => onOpen(each)}
        >
          {visible(name)}
        </Button>
      ))}
    </nav>
  );
}

interface EntriesProps {
  listing: Listing;
  onMore: () => void;
  matches: readonly FolderEntry[];
  search: string;
  chosen: ReadonlySet<string>;
  onPress: (entry: FolderEntry) => void;
  onUp: () => void;
}

function Entries({ listing, onMore, matches, search, chosen, onPress, onUp }: EntriesProps) {
  const grid = useRef<HTMLUListElement>(null);
  const { entries, isLoading, fault, cursor } = listing;
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.key === 'Backspace') {
      onUp();
      event.preventDefault();
    } else if (grid.current !== null && gridStep(grid.current, event.key)) event.preventDefault();
  };
  if (fault !== null) return <Problem error={fault} />;
  if (matches.length === 0 && isLoading) return <Skeleton label="Reading the folder" lines={5} />;
  return (
    <div class="picker-scroll" tabIndex={-1}>
      <p class="hidden-label" role="status">
        {isLoading ? 'Reading the folder' : plural(matches.length, 'entry', 'entries')}
      </p>
      {matches.length === 0 ? (
        <NothingHere search={search} isEmpty={entries.length === 0} />
      ) : (
        <ul ref={grid} class="tiles" onKeyDown={onKeyDown}>
          {matches.map((entry, index) => (
            <Tile
              key={entry.path}
              entry={entry}
              isEntry={index === 0}
              isChosen={chosen.has(entry.path)}
              onPress={onPress}
            />
          ))}
        </ul>
      )}
      {cursor !== null && <More isLoading={isLoading} onMore={onMore} />}
    </div>
  );
}

function NothingHere({ search, isEmpty }: { search: string; isEmpty: boolean }) {
  if (!isEmpty) return <Empty icon="search" title={`Nothing here is named like “${search}”`} />;
  return (
    <Empty icon="folder" title="This folder has no pictures">
      <p>
        The service shows JPEG, PNG, WebP, TIFF, AVIF and BMP files beneath its image folders
        (LATTICE_IMAGE_ROOTS).
      </p>
    </Empty>
  );
}

function Tile(props: {
  entry: FolderEntry;
  isEntry: boolean;
  isChosen: boolean;
  onPress: (entry: FolderEntry) => void;
}) {
  const { entry, isEntry, isChosen, onPress } = props;
  const isFolder = entry.type === 'folder';
  return (
    <li>
      <Button
        class={isFolder ? 'tile folder' : 'tile'}
        tabIndex={isEntry ? 0 : -1}
        aria-pressed={isFolder ? undefined : isChosen}
        onClick={() => onPress(entry)}
      >
        {isFolder ? (
          <span class="thumbnail">
            <Icon name="folder" />
          </span>
        ) : (
          <Thumbnail path={entry.path} alt="" />
        )}
        <span class="tile-name">
          <Foreign text={entry.name} />
        </span>
      </Button>
    </li>
  );
}

/** Asks for the next page when it comes into view; also a button. */
function More({ isLoading, onMore }: { isLoading: boolean; onMore: () => void }) {
  const button = useRef<HTMLButtonElement>(null);
  useEffect(() => {
    if (button.current === null || isLoading) return;
    const watch = new IntersectionObserver((entries) => {
      if (entries.at(-1)?.isIntersecting === true) onMore();
    });
    watch.observe(button.current);
    return () => watch.disconnect();
  }, [isLoading, onMore]);
  return (
    <button ref={button} type="button" disabled={isLoading} onClick={onMore}>
      {isLoading ? 'Reading' : 'Show more'}
    </button>
  );
}

const PAGE = 200;
/** A search reads on in a large folder until it has looked at so many names. */
const MOST_SEARCHED = 5_000;

interface Listing {
  entries: readonly FolderEntry[];
  cursor: string | null;
  isLoading: boolean;
  fault: unknown;
}

const LOADING: Listing = { entries: [], cursor: null, isLoading: true, fault: null };
/** Pages of the folder: the first one at once, others when they are wanted or searched. */
function useListing(folder: Signal<string>, search: Signal<string>) {
  const listing = useSignal(LOADING);
  const stop = useRef(new AbortController());
  const load = (under: string, cursor: string | null): void => {
    const { signal } = stop.current;
    listing.value = { ...listing.peek(), isLoading: true };
    service.folder({ under, limit: PAGE, cursor: cursor ?? undefined }, { signal }).then(
      ({ entries, next_cursor }) => {
        if (signal.aborted) return;
        const before = cursor === null ? [] : listing.peek().entries;
        const all = [...before, ...entries];
        listing.value = { entries: all, cursor: next_cursor, isLoading: false, fault: null };
      },
      (fault: unknown) => {
        if (!signal.aborted) listing.value = { ...LOADING, isLoading: false, fault };
      },
    );
  };
  useSignalEffect(() => {
    const under = folder.value;
    stop.current.abort();
    stop.current = new AbortController();
    listing.value = LOADING;
    load(under, null);
    return () => stop.current.abort();
  });
  useSignalEffect(() => {
    const { cursor, isLoading, entries } = listing.value;
    const reads = search.value.trim() !== '' && entries.length < MOST_SEARCHED;
    if (reads && cursor !== null && !isLoading) load(folder.peek(), cursor);
  });
  const more = (): void => {
    const { cursor, isLoading } = listing.peek();
    if (cursor !== null && !isLoading) load(folder.peek(), cursor);
  };
  return { listing, more };
}

/** Moves the focus through a grid of buttons by arrow keys. True when the key moved it. */
function gridStep(grid: HTMLElement, key: string): boolean {
  const buttons = [...grid.querySelectorAll<HTMLElement>('li > button, li > a')];
  const at = buttons.findIndex((button) => button === document.activeElement);
  const top = buttons[0]?.offsetTop;
  const columns = Math.max(
    1,
    buttons.findIndex(({ offsetTop }) => offsetTop !== top),
  );
  const row = buttons.every(({ offsetTop }) => offsetTop === top) ? buttons.length : columns;
  const to = {
    ArrowRight: at + 1,
    ArrowLeft: at - 1,
    ArrowDown: at + row,
    ArrowUp: at - row,
    Home: 0,
    End: buttons.length - 1,
  }[key];
  if (at === -1 || to === undefined) return false;
  buttons[to]?.focus();
  return true;
}
