/** Tiles in rows, of which only those near the view are there; arrows move through them. */
import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';
import { placeAfter, tileLayout } from './tile-layout.js';
import { useVirtualRows } from './use-virtual-rows.js';

interface VirtualGridProps {
  count: number;
  /** Each tile has `data-place` and is the tab stop or none. */
  tile: (place: number, isTabStop: boolean) => JSX.Element;
  /** The places from `first` to before `end` are near the view. */
  onView?: (first: number, end: number) => void;
  /** The tile that was left last: it is scrolled to and has the focus. */
  left: number | null;
  onReturned: () => void;
}

export function VirtualGrid({ count, tile, onView, left, onReturned }: VirtualGridProps) {
  const list = useRef<HTMLUListElement>(null);
  const box = useSignal({ width: 0, top: 0 });
  const focused = useSignal(left ?? 0);
  const layout = tileLayout(box.value.width);
  const rows = useVirtualRows(Math.ceil(count / layout.columns), layout.rowHeight, box.value.top);
  const first = (rows.rows[0]?.index ?? 0) * layout.columns;
  const end = Math.max(
    layout.columns,
    Math.min(count, ((rows.rows.at(-1)?.index ?? 0) + 1) * layout.columns),
  );

  useEffect(() => {
    if (box.value.width > 0) onView?.(first, end);
  }, [first, end, box.value.width]);
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
  }, [box]);
  const isBack = useRef(false);
  useEffect(() => {
    if (isBack.current || left === null || count === 0 || box.value.width === 0) return;
    isBack.current = true;
    onReturned();
    rows.scrollTo(Math.floor(left / layout.columns));
    focusSoon(list, left);
  });

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
      count,
      rowsInView,
    });
    if (next === null) return;
    event.preventDefault();
    focusPlace(next);
  };
  const tabStop = focused.value >= first && focused.value < end ? focused.value : first;
  return (
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
        Array.from({ length: Math.max(0, Math.min(end, count) - first) }, (_, at) => {
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
              aria-setsize={count}
              aria-posinset={place + 1}
            >
              {tile(place, place === tabStop)}
            </li>
          );
        })}
    </ul>
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
