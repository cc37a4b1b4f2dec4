/** Mouse, pen and fingers on a stage: point, press, drag, wheel and pinch. */
import type { RefObject } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import type { Point } from './view-window.js';

interface PointerActions {
  isZoomed(): boolean;
  zoom(factor: number, at: Point): void;
  pan(dx: number, dy: number): void;
  /** Null when the pointer has left. */
  hover(at: Point | null): void;
  press(at: Point): void;
  double(at: Point): void;
}

/** A pointer that moved less was pressed, not dragged. */
const STILL = 4;
const WHEEL_STEP = 0.002;
/** The bit of the left button, a finger or the tip of a pen in `PointerEvent.buttons`. */
const LEFT = 1;

export function usePointers(stage: RefObject<HTMLElement | null>, actions: PointerActions): void {
  const current = useRef(actions);
  current.current = actions;
  useEffect(() => {
    const element = stage.current;
    return element === null ? undefined : listen(element, current);
  }, [stage]);
}

function listen(element: HTMLElement, actions: { current: PointerActions }): () => void {
  const down = new Map<number, Point>();
  let travelled = 0;
  const place = (event: MouseEvent): Point => {
    const { left, top } = element.getBoundingClientRect();
    return { x: event.clientX - left, y: event.clientY - top };
  };
  const onDown = (event: PointerEvent): void => {
    if (event.button !== 0 || isTool(event)) return;
    if (down.size === 0) travelled = 0;
    down.set(event.pointerId, place(event));
    // A drag that moves the picture goes on beside the stage; at zoom 1 there is nothing to move.
    if (actions.current.isZoomed() || down.size > 1) element.setPointerCapture(event.pointerId);
  };
  const onMove = (event: PointerEvent): void => {
    const at = place(event);
    // A pointer that is not captured may have been released beside the stage.
    if ((event.buttons & LEFT) === 0) down.delete(event.pointerId);
    const before = down.get(event.pointerId);
    if (before === undefined) {
      if (event.pointerType !== 'touch') actions.current.hover(at);
      return;
    }
    travelled += Math.hypot(at.x - before.x, at.y - before.y);
    const [other] = [...down].filter(([id]) => id !== event.pointerId).map(([, point]) => point);
    down.set(event.pointerId, at);
    if (other !== undefined) pinch(actions.current, before, at, other);
    else if (travelled > STILL) actions.current.pan(at.x - before.x, at.y - before.y);
  };
  const onUp = (event: PointerEvent): void => {
    const was = down.delete(event.pointerId);
    if (!was || down.size > 0 || travelled > STILL || event.type === 'pointercancel') return;
    actions.current.hover(place(event));
    actions.current.press(place(event));
  };
  const onLeave = (): void => {
    if (down.size === 0) actions.current.hover(null);
  };
  const onWheel = (event: WheelEvent): void => {
    // A page scrolls past a picture that is not zoomed; a pinch of a touchpad comes with `ctrlKey`.
    if (!event.ctrlKey && !event.metaKey && !actions.current.isZoomed()) return;
    event.preventDefault();
    const speed = event.ctrlKey ? 5 : 1;
    actions.current.zoom(Math.exp(-event.deltaY * WHEEL_STEP * speed), place(event));
  };
  const onDouble = (event: MouseEvent): void => {
    if (!isTool(event)) actions.current.double(place(event));
  };
  const stop = new AbortController();
  const { signal } = stop;
  element.addEventListener('pointerdown', onDown, { signal });
  element.addEventListener('pointermove', onMove, { signal });
  element.addEventListener('pointerup', onUp, { signal });
  element.addEventListener('pointercancel', onUp, { signal });
  element.addEventListener('pointerleave', onLeave, { signal });
  element.addEventListener('wheel', onWheel, { signal, passive: false });
  element.addEventListener('dblclick', onDouble, { signal });
  return () => stop.abort();
}

/** A button on the stage is not the picture. */
function isTool(event: Event): boolean {
  return event.target instanceof Element && event.target.closest('button, a') !== null;
}

function pinch(actions: PointerActions, before: Point, now: Point, other: Point): void {
  const distance = (point: Point) => Math.hypot(point.x - other.x, point.y - other.y);
  const at = { x: (now.x + other.x) / 2, y: (now.y + other.y) / 2 };
  actions.zoom(distance(now) / Math.max(1, distance(before)), at);
  actions.pan((now.x - before.x) / 2, (now.y - before.y) / 2);
}
