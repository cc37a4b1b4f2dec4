/** A box with a part of its picture around it. */
import { cropArea } from './crop-area.js';
import type { Detection, ImageSize } from './shown-boxes.js';
import { Thumbnail } from './thumbnail.js';

interface BoxCropProps {
  path: string;
  box: Detection;
  /** Size of the whole picture. */
  size: ImageSize;
}

/** Fills its tile. */
export function BoxCrop({ path, box, size }: BoxCropProps) {
  const area = cropArea(box.box, size);
  const [left, top, right, bottom] = area;
  const [x1, y1, x2, y2] = box.box;
  const inside = { ...box, box: [x1 - left, y1 - top, x2 - left, y2 - top] as typeof area };
  return (
    <Thumbnail
      path={path}
      crop={area.join(',')}
      alt=""
      boxes={[inside]}
      size={{ width: right - left, height: bottom - top }}
    />
  );
}
