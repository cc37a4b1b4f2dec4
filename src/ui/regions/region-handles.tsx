/** Handles over a picture: the corners of the chosen region, which can be moved, and the corners of a draft. */
import type { TargetedKeyboardEvent, TargetedPointerEvent } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { LEAST_POINTS, REGION_LIMITS } from '../../api/region-rules.js';
import { useShortcuts } from '../parts/shortcuts.js';
import type { PictureMarks } from '../picture/marks.js';
import { placeOf, shareAt, type Point, type PicturePoint } from '../picture/view-window.js';
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
import {
  changeRegions,
  chosenIndex,
  draftCorners,
  hoveredPoint,
  shownRegions,
} from './region-choice.js';

interface HandlesProps {
  marks: PictureMarks;
}

export function RegionHandles({ marks }: HandlesProps) {
  const regionIndex = chosenIndex.value;
  const region = regionIndex === null ? undefined : shownRegions.value[regionIndex];
  useShortcuts('Drawing a region', DRAFT_KEYS);
  if (marks.stage.value.width === 0) return null;
  return (
    <>
      {draftCorners.value !== null && <Draft marks={marks} corners={draftCorners.value} />}
      {regionIndex !== null && region !== undefined && (
        <Corners
          key={regionIndex}
          regionIndex={regionIndex}
          name={region.name}
          polygon={region.polygon}
          marks={marks}
        />
      )}
    </>
  );
}

/** Makes a region of a draft with three corners or more, also of a wrong one: its corners can still be moved. */
export function closeDraft(): void {
  const corners = draftCorners.peek();
  if (corners === null || corners.length < LEAST_POINTS) return;
  draftCorners.value = null;
  changeRegions((regions) => [...regions, newRegion(regions, corners)]);
  chosenIndex.value = shownRegions.peek().length - 1;
}

export function takeBackCorner(): void {
  draftCorners.value = draftCorners.peek()?.slice(0, -1) ?? null;
}

const isDrawing = (): boolean => draftCorners.peek() !== null;
const DRAFT_KEYS = [
  {
    keys: 'Enter',
    title: 'Close the region',
    // Enter on a focused button must press that button.
    isOn: () => isDrawing() && !(document.activeElement instanceof HTMLButtonElement),
    run: closeDraft,
  },
  { keys: 'Backspace', title: 'Take the last corner back', isOn: isDrawing, run: takeBackCorner },
  { keys: 'Escape', title: 'Leave it', isOn: isDrawing, run: () => (draftCorners.value = null) },
];

function Draft({ marks, corners }: HandlesProps & { corners: readonly PicturePoint[] }) {
  const lines = useRef<SVGSVGElement>(null);
  useEffect(() => {
    // Focus the stage, so that the draft's keys reach it.
    lines.current?.closest<HTMLElement>('.stage')?.focus();
    // Only a draft sets the tool, and there is one draft at most.
    marks.tool.value = {
      press: (corner) => {
        const before = draftCorners.peek() ?? [];
        if (before.length < REGION_LIMITS.points) draftCorners.value = [...before, corner];
      },
      hover: (point) => (hoveredPoint.value = point),
    };
    return () => {
      marks.tool.value = null;
      hoveredPoint.value = null;
    };
  }, [marks.tool]);
  const { width, height } = marks.stage.value;
  const pointer = hoveredPoint.value === null ? [] : [hoveredPoint.value];
  const toStage = (corner: PicturePoint): Point =>
    placeOf(corner, marks.stage.value, marks.viewWindow.value);
  const points = [...corners, ...pointer].map(toStage).map(({ x, y }) => `${x},${y}`);
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
          const { x, y } = toStage(corner);
          return <circle key={index} cx={x} cy={y} r="5" />;
        })}
      </svg>
      {first !== undefined && (
        <button
          type="button"
          class="corner first"
          style={styleOf(toStage(first))}
          aria-label="Close the region"
          onClick={closeDraft}
        />
      )}
    </>
  );
}

interface CornersProps extends HandlesProps {
  regionIndex: number;
  name: string;
  polygon: Polygon;
}

function Corners({ regionIndex, name, polygon, marks }: CornersProps) {
  const set = (to: Polygon): void =>
    changeRegions((regions) => withRegion(regions, regionIndex, { polygon: to }));
  const stageStyle = (corner: PicturePoint) =>
    styleOf(placeOf(corner, marks.stage.value, marks.viewWindow.value));
  // Events may follow each other faster than the region is rendered.
  const now = (): Polygon => shownRegions.peek()[regionIndex]?.polygon ?? polygon;
  const drag = useDrag(marks, (corner, to) => {
    set(withCornerAt(now(), corner, to));
  });
  const onKey = (event: TargetedKeyboardEvent<HTMLElement>, corner: number): void => {
    const corners = now();
    const from = corners[corner];
    const to = from === undefined ? null : steppedBy(event.key, event.shiftKey, from);
    if (to !== null) set(withCornerAt(corners, corner, to));
    else if (event.key === '+' || event.key === 'Insert') set(withCornerAfter(corners, corner));
    else if (event.key === 'Delete') {
      const before = event.currentTarget.previousElementSibling;
      // Deleting the last corner removes the focused button; keep the focus in the group.
      if (corner === corners.length - 1 && before instanceof HTMLElement) before.focus();
      set(withoutCorner(corners, corner));
    } else return;
    // Otherwise the picture would also pan by these keys.
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
            style={stageStyle(corner)}
            aria-label={`Corner ${index + 1} of ${name}: ${percent(corner[0])}, ${percent(corner[1])}`}
            title="Drag, or arrow keys; + adds a corner, Delete removes this one"
            onKeyDown={(event) => onKey(event, index)}
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
            style={stageStyle(middleAfter(polygon, index))}
            // Keyboard users add a corner with + on the one before it.
            tabIndex={-1}
            aria-label={`Add a corner after corner ${index + 1}`}
            onClick={() => set(withCornerAfter(now(), index))}
          />
        ))}
    </>
  );
}

/** Pointer handlers of a corner. While it is dragged, it keeps its distance from the pointer. */
function useDrag(marks: PictureMarks, onMove: (corner: number, to: PicturePoint) => void) {
  const distance = useRef<Point>({ x: 0, y: 0 });
  const pointOf = (event: TargetedPointerEvent<HTMLElement>): Point => {
    const { left = 0, top = 0 } =
      event.currentTarget.closest('.stage')?.getBoundingClientRect() ?? {};
    return { x: event.clientX - left, y: event.clientY - top };
  };
  return (corner: number, from: PicturePoint) => ({
    onPointerDown: (event: TargetedPointerEvent<HTMLElement>) => {
      event.currentTarget.setPointerCapture(event.pointerId);
      const point = pointOf(event);
      const shownAt = placeOf(from, marks.stage.peek(), marks.viewWindow.peek());
      distance.current = { x: shownAt.x - point.x, y: shownAt.y - point.y };
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
