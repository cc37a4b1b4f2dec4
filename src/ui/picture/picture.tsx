/** A picture with its boxes drawn over it: zoom, pan, and one box marked by pointer or from a list. */
import { effect, useComputed, type ReadonlySignal } from '@preact/signals';
import type { ComponentChildren, JSX } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { Button } from '../parts/button.js';
import { Boxes } from './boxes.js';
import type { PictureMarks } from './marks.js';
import type { ImageSize, ShownBox } from './shown-boxes.js';
import { usePointers } from './use-pointers.js';
import { boxAt, moved, onScreen, shareAt, WHOLE, windowOn, zoomedAt } from './view-window.js';

interface PictureProps {
  /** Null while there is none: the boxes lie on a grey area of its shape. */
  url: string | null;
  alt: string;
  size: ImageSize;
  boxes: ReadonlySignal<readonly ShownBox[]>;
  marks: PictureMarks;
  /** Shown dimmed: the picture is about to change. */
  isOld?: boolean;
  /** Content shown over the picture. */
  children?: ComponentChildren;
  /** Buttons beside those of the picture. */
  tools?: JSX.Element | undefined;
}

const STEP = 1.4;
const DOUBLE = 2;
const PAN = 60;

export function Picture({ url, alt, size, boxes, marks, isOld, children, tools }: PictureProps) {
  const stage = useRef<HTMLDivElement>(null);
  const { viewWindow, stage: stageSize } = marks;
  const placed = useComputed(() =>
    boxes.value.map((shown) => ({
      shown,
      rect: onScreen(shown.box, size, stageSize.value, viewWindow.value),
    })),
  );
  const middle = () => ({ x: stageSize.peek().width / 2, y: stageSize.peek().height / 2 });
  const zoom = (factor: number, at = middle()): void => {
    viewWindow.value = zoomedAt(viewWindow.peek(), factor, at, stageSize.peek());
  };
  const pan = (dx: number, dy: number): void => {
    viewWindow.value = moved(viewWindow.peek(), dx, dy, stageSize.peek());
  };

  useEffect(() => {
    const element = stage.current;
    if (element === null) return;
    const watch = new ResizeObserver(([entry]) => {
      if (entry === undefined) return;
      const { width, height } = entry.contentRect;
      viewWindow.value = WHOLE;
      stageSize.value = { width, height };
    });
    watch.observe(element);
    return () => watch.disconnect();
  }, [stageSize, viewWindow]);
  useEffect(
    () =>
      effect(() => {
        const wanted = marks.zoomTo.value;
        if (wanted === null || stageSize.value.width === 0) return;
        marks.zoomTo.value = null;
        if (wanted === 'whole') viewWindow.value = WHOLE;
        const found = boxes.peek().find(({ id }) => id === wanted);
        if (found === undefined) return;
        const rect = onScreen(found.box, size, stageSize.peek(), WHOLE);
        viewWindow.value = windowOn(rect, stageSize.peek());
      }),
    [marks.zoomTo, boxes, size, stageSize, viewWindow],
  );
  usePointers(stage, {
    isZoomed: () => viewWindow.peek().zoom > 1,
    zoom,
    pan,
    hover: (point) => {
      const tool = marks.tool.peek();
      if (tool !== null) {
        marks.active.value = null;
        tool.hover(point === null ? null : shareAt(point, stageSize.peek(), viewWindow.peek()));
        return;
      }
      const index =
        point === null
          ? null
          : boxAt(
              point,
              placed.peek().map(({ rect }) => rect),
            );
      marks.active.value = index === null ? null : (placed.peek()[index]?.shown.id ?? null);
    },
    press: (point) => {
      const tool = marks.tool.peek();
      if (tool !== null) {
        tool.press(shareAt(point, stageSize.peek(), viewWindow.peek()));
        return;
      }
      const hit = marks.active.peek();
      marks.pinned.value = hit === marks.pinned.peek() ? null : hit;
    },
    double: (point) => {
      if (marks.tool.peek() === null) zoom(DOUBLE, point);
    },
  });

  const { zoom: factor, x, y } = viewWindow.value;
  const cursor = `${factor > 1 ? ' zoomed' : ''}${marks.tool.value === null ? '' : ' drawing'}`;
  return (
    <figure
      class={isOld === true ? 'picture old' : 'picture'}
      style={{ '--ratio': String(size.width / size.height) }}
    >
      <div
        ref={stage}
        class={`stage${cursor}`}
        role="group"
        aria-label={alt}
        tabIndex={0}
        onKeyDown={(event) => {
          if (keyOf(event, { zoom, pan, whole: () => (viewWindow.value = WHOLE) }))
            event.preventDefault();
        }}
      >
        {url !== null && (
          <img
            src={url}
            alt=""
            draggable={false}
            style={{ transform: `translate(${x}px, ${y}px) scale(${factor})` }}
          />
        )}
        {marks.boxesShown.value && stageSize.value.width > 0 && (
          <Boxes
            placed={placed}
            stage={stageSize}
            labels={marks.labels}
            active={marks.active}
            pinned={marks.pinned}
          />
        )}
        {children}
      </div>
      <div class="picture-tools" role="group" aria-label="Picture">
        <Button class="tool" icon="plus" name="Zoom in" onClick={() => zoom(STEP)} />
        <Button
          class="tool"
          icon="minus"
          name="Zoom out"
          disabled={factor === 1}
          onClick={() => zoom(1 / STEP)}
        />
        <Button
          class="tool"
          icon="fit"
          name="Show the whole picture"
          disabled={factor === 1}
          onClick={() => (viewWindow.value = WHOLE)}
        />
        <Button
          class="tool"
          icon="tag"
          name="Labels"
          aria-pressed={marks.labels.value === 'fit'}
          onClick={() => (marks.labels.value = marks.labels.peek() === 'fit' ? 'one' : 'fit')}
        />
        <Button
          class="tool"
          icon="eye"
          name="Boxes"
          aria-pressed={marks.boxesShown.value}
          onClick={() => (marks.boxesShown.value = !marks.boxesShown.peek())}
        />
        {tools}
      </div>
    </figure>
  );
}

interface KeyActions {
  zoom: (factor: number) => void;
  pan: (dx: number, dy: number) => void;
  whole: () => void;
}

/** True when the key meant something here. */
function keyOf(
  { key, ctrlKey, metaKey }: KeyboardEvent,
  { zoom, pan, whole }: KeyActions,
): boolean {
  if (ctrlKey || metaKey) return false;
  const actions: Record<string, () => void> = {
    '+': () => zoom(STEP),
    '=': () => zoom(STEP),
    '-': () => zoom(1 / STEP),
    '0': whole,
    ArrowLeft: () => pan(PAN, 0),
    ArrowRight: () => pan(-PAN, 0),
    ArrowUp: () => pan(0, PAN),
    ArrowDown: () => pan(0, -PAN),
  };
  actions[key]?.();
  return key in actions;
}
