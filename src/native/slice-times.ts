/**
 * Medians in milliseconds. Each stage ran alone in a recorded graph, by the GPU's clock, on empty images of 640 x 480.
 */
export interface NativeSliceTimes {
  /** Images of the slice. */
  batch: number;
  /** The bare network. */
  networkMs: number;
  /** Pixels and requests there, boxes back. */
  copyMs: number;
  letterboxMs: number;
  /** Box decode and suppression. */
  boxesMs: number;
  /** Everything, as a task's slice does it. */
  sliceMs: number;
  /** Host time of the one launch. */
  launchMs: number;
  /** Host time until an empty graph has come back. */
  emptyMs: number;
}
