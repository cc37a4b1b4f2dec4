/** The images of a job as pictures with their boxes. */
import { useSignal } from '@preact/signals';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { JobStatus } from '../../client/records.js';
import { setQuery } from '../address/location.js';
import { Button } from '../parts/button.js';
import { Empty } from '../parts/empty.js';
import { Problem } from '../parts/problem.js';
import { service } from '../session/session.js';
import { plural } from '../text/format.js';
import { imagesQuery, isFiltered, NO_FILTER, type ImageFilter } from './image-filter.js';
import { ImagePages } from './image-pages.js';
import { JobTile } from './job-tile.js';
import { lastPlace } from './last-place.js';
import { placeAfter, tileLayout } from './tile-layout.js';
import { useVirtualRows } from './use-virtual-rows.js';

interface GridProps {
  job: JobStatus;
  filter: ImageFilter;
  /** Grows when the images have changed. */
  epoch: number;
}

export function JobGrid({ job, filter, epoch }: GridProps) {
  const jobId = job.job_id;
  const list = useRef<HTMLUListElement>(null);
  const [, draw] = useState(0);
  const box = useSignal({ width: 0, top: 0 });
  const focused = useSignal(lastPlace.of(jobId, filter) ?? 0);
  const pages = useRef<ImagePages | undefined>(undefined);
  pages.current ??= new ImagePages({
    fetch: (offset, limit, signal) =>
      service.images(jobId, { ...imagesQuery(filter), offset, limit }, { signal }),
    onChange: () => draw((before) => before + 1),
  });
  const images = pages.current;
  const layout = tileLayout(box.value.width);
  const known = images.matching ?? (isFiltered(filter) ? 0 : job.image_count);
  const rows = useVirtualRows(Math.ceil(known / layout.columns), layout.rowHeight, box.value.top);
  const first = (rows.rows[0]?.index ?? 0) * layout.columns;
  const end = Math.max(
    layout.columns,
    Math.min(known, ((rows.rows.at(-1)?.index ?? 0) + 1) * layout.columns),
  );

  useEffect(() => () => images.close(), [images]);
  useEffect(() => {
    if (box.value.width > 0) images.want(first, end);
  }, [images, first, end, box.value.width]);
  useEffect(() => {
    if (epoch > 1) images.refresh();
  }, [images, epoch]);
  useLayoutEffect(() => {
    const element = list.current;
    if (element === null) return;
    const measure = (): void => {
      const { width, top } = element.getBoundingClientRect();
      const next = { width, top: top + window.scrollY };
      const { width: was, top: before } = box.peek();
      if (was !== next.width || Math.abs(before - next.top) > 1) box.value = next;
    };
    const watch = new ResizeObserver(measure);
    watch.observe(element);
    watch.observe(document.body);
    measure();
    return () => watch.disconnect();
  }, [box, known === 0]);
  useReturn(list, rows.scrollTo, { jobId, filter, columns: layout.columns, known });

  const focusPlace = (place: number): void => {
    focused.value = place;
    const row = Math.floor(place / layout.columns);
    if (tileAt(list.current, place) === null) rows.scrollTo(row);
    focusSoon(list, place);
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    const rowsInView = Math.floor(window.innerHeight / layout.rowHeight);
    const next = placeAfter(event.key, focused.peek(), {
      columns: layout.columns,
      count: known,
      rowsInView,
    });
    if (next === null) return;
    event.preventDefault();
    focusPlace(next);
  };
  const tabStop = focused.value >= first && focused.value < end ? focused.value : first;
  if (images.fault !== null) return <Problem error={images.fault} />;
  return (
    <section class="job-images" aria-label="Images">
      <p class="fine" role="status">
        {images.matching === null ? 'Reading the images' : countText(images.matching, job, filter)}
      </p>
      {images.matching === 0 ? (
        <NoImages />
      ) : (
        <ul
          ref={list}
          class="grid"
          style={{ height: `${rows.height}px` }}
          onKeyDown={onKeyDown}
          onFocusIn={({ target }) => {
            const place = (target as HTMLElement).closest<HTMLElement>('[data-place]')?.dataset;
            if (place !== undefined) focused.value = Number(place.place);
          }}
        >
          {box.value.width > 0 &&
            Array.from({ length: Math.max(0, Math.min(end, known) - first) }, (_, at) => {
              const place = first + at;
              const row = Math.floor(place / layout.columns);
              const x = (place % layout.columns) * (layout.width + layout.gap);
              return (
                <li
                  key={place}
                  style={{
                    width: `${layout.width}px`,
                    transform: `translate(${x}px, ${row * layout.rowHeight}px)`,
                  }}
                  aria-setsize={known}
                  aria-posinset={place + 1}
                >
                  <JobTile
                    jobId={jobId}
                    filter={filter}
                    place={place}
                    image={images.at(place)}
                    isTabStop={place === tabStop}
                  />
                </li>
              );
            })}
        </ul>
      )}
    </section>
  );
}

function countText(matching: number, job: JobStatus, filter: ImageFilter): string {
  return isFiltered(filter)
    ? `${plural(matching, 'image')} of ${plural(job.image_count, 'image')}`
    : plural(matching, 'image');
}

function NoImages() {
  return (
    <Empty icon="search" title="No image fits these filters">
      <Button onClick={() => setQuery(NO_FILTER)}>Clear the filters</Button>
    </Empty>
  );
}

function tileAt(list: HTMLElement | null, place: number): HTMLElement | null {
  return list?.querySelector<HTMLElement>(`[data-place="${place}"]`) ?? null;
}

/** The tile may be drawn only after the list has scrolled to it. */
function focusSoon(list: { current: HTMLElement | null }, place: number, tries = 20): void {
  const tile = tileAt(list.current, place);
  if (tile !== null) {
    tile.focus({ preventScroll: false });
    if (document.activeElement === tile) return;
  }
  if (tries > 0) {
    requestAnimationFrame(() => focusSoon(list, place, tries - 1));
  }
}

/** Back from an image: to its tile. */
function useReturn(
  list: { current: HTMLElement | null },
  scrollTo: (row: number) => void,
  {
    jobId,
    filter,
    columns,
    known,
  }: { jobId: string; filter: ImageFilter; columns: number; known: number },
): void {
  const done = useRef(false);
  useEffect(() => {
    const place = lastPlace.of(jobId, filter);
    if (done.current || place === null || known === 0 || list.current === null) return;
    done.current = true;
    lastPlace.forget();
    scrollTo(Math.floor(place / columns));
    focusSoon(list, place);
  });
}
