/** A network that computes nothing: what a run takes beside it is left. */
import { layoutFile } from '../../test/support/layout-models.js';

const CELLS = 4 * 4 + 2 * 2 + 1;
const SIDE = 32;

/** An ONNX file in the v8 layout of 32 x 32 pixels that finds nothing. */
export function noNetwork(): Buffer {
  return layoutFile({
    names: ['nothing'],
    rows: 5,
    columns: CELLS,
    // A score of 0 fails the self-check.
    at: (row) => (row < 4 ? SIDE / 2 : 0.01),
    side: SIDE,
    metadata: { imgsz: `[${SIDE}, ${SIDE}]` },
  });
}
