/** The detections of a picture as rows, linked with its boxes by pointer and keyboard. */
import type { ReadonlySignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { Button } from '../parts/button.js';
import { percent, visible } from '../text/format.js';
import { Swatch } from './class-chips.js';
import type { PictureMarks } from './marks.js';
import type { ShownBox } from './shown-boxes.js';

interface BoxListProps {
  boxes: ReadonlySignal<readonly ShownBox[]>;
  marks: PictureMarks;
}

export function BoxList({ boxes, marks }: BoxListProps) {
  const list = useRef<HTMLUListElement>(null);
  // A box that was pressed in the picture comes into sight in the list, without moving the page.
  useEffect(
    () =>
      marks.pinned.subscribe((id) => {
        const row = list.current?.querySelector<HTMLElement>(`[data-box="${id}"]`);
        if (!row || !list.current) return;
        const { offsetTop, offsetHeight } = row;
        const { scrollTop, clientHeight } = list.current;
        if (offsetTop < scrollTop) list.current.scrollTop = offsetTop;
        else if (offsetTop + offsetHeight > scrollTop + clientHeight) {
          list.current.scrollTop = offsetTop + offsetHeight - clientHeight;
        }
      }),
    [marks.pinned],
  );
  const shown = boxes.value;
  const entry = shown.find(({ id }) => id === marks.pinned.value) ?? shown[0];
  return (
    <ul
      ref={list}
      class="box-list"
      aria-label="Detections"
      onKeyDown={(event) => {
        if (moveFocus(event.currentTarget, event.key)) event.preventDefault();
      }}
      onPointerLeave={() => (marks.active.value = null)}
      onScroll={() => (marks.active.value = null)}
    >
      {shown.map((box) => (
        <BoxRow key={box.id} box={box} marks={marks} isEntry={box === entry} />
      ))}
    </ul>
  );
}

function BoxRow({ box, marks, isEntry }: { box: ShownBox; marks: PictureMarks; isEntry: boolean }) {
  const { id, class: name, confidence, alternative, regions = [] } = box;
  const isPinned = marks.pinned.value === id;
  return (
    <li class={marks.active.value === id ? 'box-row active' : 'box-row'} data-box={id}>
      <Button
        tabIndex={isEntry ? 0 : -1}
        aria-pressed={isPinned}
        onPointerEnter={() => (marks.active.value = id)}
        onFocus={() => (marks.active.value = id)}
        onBlur={() => (marks.active.value = null)}
        onClick={() => (marks.pinned.value = isPinned ? null : id)}
      >
        <Swatch name={name} />
        <span class="box-class">
          {visible(name)}
          {alternative && <small> or {visible(alternative.class)}</small>}
          {regions.length > 0 && <small> in {regions.map(visible).join(', ')}</small>}
        </span>
        <span class="share" aria-hidden="true">
          <span style={{ width: `${confidence * 100}%` }} />
        </span>
        <span class="box-score">{percent(confidence)}</span>
      </Button>
      {isPinned && <BoxFacts box={box} marks={marks} />}
    </li>
  );
}

function BoxFacts({ box, marks }: { box: ShownBox; marks: PictureMarks }) {
  const { alternative, regions = [] } = box;
  const [x1, y1, x2, y2] = box.box.map(Math.round) as ShownBox['box'];
  return (
    <p class="box-facts">
      <span>
        {x2 - x1} × {y2 - y1} px at {x1}, {y1}
        {alternative && `; ${visible(alternative.class)} with ${percent(alternative.confidence)}`}
        {regions.length > 0 && `; in ${regions.map(visible).join(', ')}`}
      </span>
      <Button class="quiet" onClick={() => (marks.zoomTo.value = box.id)}>
        Zoom to it
      </Button>
    </p>
  );
}

/** True when the key moved the focus. */
function moveFocus(list: HTMLElement, key: string): boolean {
  const buttons = [...list.querySelectorAll<HTMLElement>('.box-row > button')];
  const at = buttons.findIndex((button) => button === document.activeElement);
  const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: buttons.length - 1 }[key];
  if (to === undefined) return false;
  buttons[Math.max(0, Math.min(to, buttons.length - 1))]?.focus();
  return true;
}
