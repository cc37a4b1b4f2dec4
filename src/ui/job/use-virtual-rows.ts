/** Rows of one height in the page's own scroll area, of which only those near the view are there. */
import {
  Virtualizer,
  observeWindowOffset,
  observeWindowRect,
  windowScroll,
  type VirtualItem,
} from '@tanstack/virtual-core';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';

const OVERSCAN = 3;

export interface VirtualRows {
  rows: VirtualItem[];
  height: number;
  scrollTo: (row: number) => void;
}

/** `top`: of the rows from the top of the page. */
export function useVirtualRows(count: number, rowHeight: number, top: number): VirtualRows {
  const [, draw] = useState(0);
  const options = {
    count,
    estimateSize: () => rowHeight,
    getItemKey: (index: number) => index,
    overscan: OVERSCAN,
    scrollMargin: top,
    getScrollElement: () => window,
    observeElementRect: observeWindowRect,
    observeElementOffset: observeWindowOffset,
    scrollToFn: windowScroll,
    initialOffset: () => window.scrollY,
    onChange: () => draw((before) => before + 1),
  };
  const held = useRef<Virtualizer<Window, Element> | undefined>(undefined);
  held.current ??= new Virtualizer<Window, Element>(options);
  const virtualizer = held.current;
  const measured = useRef(rowHeight);
  virtualizer.setOptions(options);
  useEffect(() => virtualizer._didMount(), [virtualizer]);
  useLayoutEffect(() => virtualizer._willUpdate());
  if (measured.current !== rowHeight) {
    measured.current = rowHeight;
    virtualizer.measure();
  }
  return {
    rows: virtualizer.getVirtualItems(),
    height: virtualizer.getTotalSize(),
    scrollTo: (row) => virtualizer.scrollToIndex(row, { align: 'center' }),
  };
}
