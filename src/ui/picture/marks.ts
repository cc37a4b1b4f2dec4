import { useSignal, type Signal } from '@preact/signals';
import { WHOLE, type PicturePoint, type Size, type ViewWindow } from './view-window.js';

/** Labels of all boxes that have room, of the marked one only, or none. */
export type LabelMode = 'fit' | 'one' | 'none';

/** A tool that takes the presses on the picture, which then choose no boxes. */
export interface PointTool {
  press: (at: PicturePoint) => void;
  /** Null when the pointer has left. */
  hover: (at: PicturePoint | null) => void;
}

/** The marked box, and how boxes are shown: shared by the picture and the list beside it. */
export interface PictureMarks {
  /** Id of the box under the pointer or the focus. */
  active: Signal<number | null>;
  /** Id of the chosen box; it stays marked. */
  pinned: Signal<number | null>;
  labels: Signal<LabelMode>;
  /** False while the boxes are hidden to see the picture. */
  boxesShown: Signal<boolean>;
  /** Set to a box to zoom to it, or to `whole`. */
  zoomTo: Signal<number | 'whole' | null>;
  /** The part of the picture that is shown. */
  viewWindow: Signal<ViewWindow>;
  /** Size of the picture on the screen; its width is 0 until it is known. */
  stage: Signal<Size>;
  /** Set by the draft of a region while it is shown. Null: the pointer marks boxes. */
  tool: Signal<PointTool | null>;
}

export function usePictureMarks(): PictureMarks {
  return {
    active: useSignal<number | null>(null),
    pinned: useSignal<number | null>(null),
    labels: useSignal<LabelMode>('fit'),
    boxesShown: useSignal(true),
    zoomTo: useSignal<number | 'whole' | null>(null),
    viewWindow: useSignal(WHOLE),
    stage: useSignal<Size>({ width: 0, height: 0 }),
    tool: useSignal<PointTool | null>(null),
  };
}
