/** Over a picture: the corners of the chosen region, which are moved, and those of a region that is being drawn. */
import type { TargetedKeyboardEvent, TargetedPointerEvent } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { LEAST_POINTS, REGION_LIMITS } from '../../api/region-rules.js';
import { useShortcuts } from '../parts/shortcuts.js';
import type { PictureMarks } from '../picture/marks.js';
import { placeOf, shareAt, type Point, type Share } from '../picture/view-window.js';
import { percent } from '../text/format.js';
import {
  draftFault,
  middleAfter,
  newRegion,
  steppedBy,
  withCornerAfter,
  withCornerAt,
  withoutCorner,
  withRegion,
  type Polygon,
} from './drawn-regions.js';
import { change, chosen, draft, hovered, shown } from './region-choice.js';

interface HandlesProps {
  marks: PictureMarks;
}

export function RegionHandles({ marks }: HandlesProps) {
  const at = chosen.value;
  const region = at === null ? undefined : shown.value[at];
  useShortcuts('Drawing a region', DRAFT_KEYS);
  if (marks.stage.value.width === 0) return null;
  return (
    <>
      {draft.value !== null && <Draft marks={marks} corners={draft.value} />}
      {at !== null && region !== undefined && (
        <Corners key={at} at={at} name={region.name} polygon={region.polygon} marks={marks} />
      )}
    </>
  );
}

/** With three corners or more the region is made, also a wrong one: its corners can be moved. */
export function closeDraft(): void {
  const corners = draft.peek();
  if (corners === null || corners.length < LEAST_POINTS) return;
  draft.value = null;
  change((regions) => [...regions, newRegion(regions, corners)]);
  chosen.value = shown.peek().length - 1;
}

export function takeBackCorner(): void {
  draft.value = draft.peek()?.slice(0, -1) ?? null;
}

const isDrawing = (): boolean => draft.peek() !== null;
const DRAFT_KEYS = [
  {
    keys: 'Enter',
    title: 'Close the region',
    // A button takes Enter itself.
    isOn: () => isDrawing() && !(document.activeElement instanceof HTMLButtonElement),
    run: closeDraft,
  },
  { keys: 'Backspace', title: 'Take the last corner back', isOn: isDrawing, run: takeBackCorner },
  { keys: 'Escape', title: 'Leave it', isOn: isDrawing, run: () => (draft.value = null) },
];

function Draft({ marks, corners }: HandlesProps & { corners: readonly Share[] }) {
  const lines = useRef<SVGSVGElement>(null);
  useEffect(() => {
    // Keys are for the picture now.
    lines.current?.closest<HTMLElement>('.stage')?.focus();
    marks.tool.value = {
      press: (corner) => {
        const before = draft.peek() ?? [];
        if (before.length < REGION_LIMITS.points) draft.value = [...before, corner];
      },
      hover: (place) => (hovered.value = place),
    };
    return () => {
      marks.tool.value = null;
      hovered.value = null;
    };
  }, [marks.tool]);
  const { width, height } = marks.stage.value;
  const pointer = hovered.value === null ? [] : [hovered.value];
  const place = (corner: Share): Point =>
    placeOf(corner, marks.stage.value, marks.viewWindow.value);
  const points = [...corners, ...pointer].map(place).map(({ x, y }) => `${x},${y}`);
  const [first] = corners;
  return (
    <>
      <svg
        ref={lines}
        class={draftFault(corners) === null ? 'regions region draft' : 'regions region draft wrong'}
        viewBox={`0 0 ${width} ${height}`}
        aria-hidden="true"
      >
        <polyline class="region-casing" points={points.join(' ')} />
        <polyline class="region-line" points={points.join(' ')} />
        {corners.slice(1).map((corner, index) => {
          const { x, y } = place(corner);
          return <circle key={index} cx={x} cy={y} r="5" />;
        })}
      </svg>
      {first !== undefined && (
        <button
          type="button"
          class="corner first"
          style={styleOf(place(first))}
          aria-label="Close the region"
          onClick={closeDraft}
        />
      )}
    </>
  );
}

interface CornersProps extends HandlesProps {
  at: number;
  name: string;
  polygon: Polygon;
}

function Corners({ at, name, polygon, marks }: CornersProps) {
  const set = (to: Polygon): void => change((regions) => withRegion(regions, at, { polygon: to }));
  const place = (corner: Share) =>
    styleOf(placeOf(corner, marks.stage.value, marks.viewWindow.value));
  const drag = useDrag(marks, (corner, to) => {
    const now = shown.peek()[at]?.polygon ?? polygon;
    set(withCornerAt(now, corner, to));
  });
  const onKey = (event: TargetedKeyboardEvent<HTMLElement>, corner: number, from: Share): void => {
    const to = steppedBy(event.key, event.shiftKey, from);
    if (to !== null) set(withCornerAt(polygon, corner, to));
    else if (event.key === '+' || event.key === 'Insert') set(withCornerAfter(polygon, corner));
    else if (event.key === 'Delete') {
      const before = event.currentTarget.previousElementSibling;
      if (corner === polygon.length - 1 && before instanceof HTMLElement) before.focus();
      set(withoutCorner(polygon, corner));
    } else return;
    // The arrow keys are those of the picture otherwise.
    event.preventDefault();
    event.stopPropagation();
  };
  return (
    <>
      <div class="corners" role="group" aria-label={`Corners of ${name}`}>
        {polygon.map((corner, index) => (
          <button
            key={index}
            type="button"
            class="corner"
            style={place(corner)}
            aria-label={`Corner ${index + 1} of ${name}: ${percent(corner[0])}, ${percent(corner[1])}`}
            title="Drag, or arrow keys; + adds a corner, Delete removes this one"
            onKeyDown={(event) => onKey(event, index, corner)}
            {...drag(index, corner)}
          />
        ))}
      </div>
      {polygon.length < REGION_LIMITS.points &&
        polygon.map((_, index) => (
          <button
            key={index}
            type="button"
            class="corner between"
            style={place(middleAfter(polygon, index))}
            // With the keyboard a corner is added by the one before it.
            tabIndex={-1}
            aria-label={`Add a corner after corner ${index + 1}`}
            onClick={() => set(withCornerAfter(polygon, index))}
          />
        ))}
    </>
  );
}

/** Handlers of a corner: it keeps its distance from the pointer. */
function useDrag(marks: PictureMarks, onMove: (corner: number, to: Share) => void) {
  const distance = useRef<Point>({ x: 0, y: 0 });
  const pointOf = (event: TargetedPointerEvent<HTMLElement>): Point => {
    const { left = 0, top = 0 } =
      event.currentTarget.closest('.stage')?.getBoundingClientRect() ?? {};
    return { x: event.clientX - left, y: event.clientY - top };
  };
  return (corner: number, from: Share) => ({
    onPointerDown: (event: TargetedPointerEvent<HTMLElement>) => {
      event.currentTarget.setPointerCapture(event.pointerId);
      const point = pointOf(event);
      const place = placeOf(from, marks.stage.peek(), marks.viewWindow.peek());
      distance.current = { x: place.x - point.x, y: place.y - point.y };
    },
    onPointerMove: (event: TargetedPointerEvent<HTMLElement>) => {
      if (!event.currentTarget.hasPointerCapture(event.pointerId)) return;
      const { x, y } = pointOf(event);
      const to = { x: x + distance.current.x, y: y + distance.current.y };
      onMove(corner, shareAt(to, marks.stage.peek(), marks.viewWindow.peek()));
    },
  });
}

const styleOf = ({ x, y }: Point) => ({ left: `${x}px`, top: `${y}px` });
