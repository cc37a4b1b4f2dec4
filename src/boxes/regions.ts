/** Regions of a picture: which boxes lie in which, and how many. */
import { countRegions } from './class-counts.js';
import type { Detection, ImageSize, ProcessedImage } from '../api/schemas/image.js';
import { ANCHORS, type Region } from '../api/region-rules.js';
import { areaWithin, holds, type Rectangle } from '../base/polygon.js';
import { classKey } from '../api/class-key.js';

/** Share of the area that rounding may take from a box that lies wholly in the polygon. */
const ROUNDING = 1e-9;

export function isMask({ ignore }: Region): boolean {
  return ignore === true;
}

/** The boxes that lie in no mask. */
export function withoutMasked(
  detections: Detection[],
  regions: readonly Region[],
  image: ImageSize,
): Detection[] {
  const masks = regions.filter(isMask).map((region) => membership(region, image));
  if (masks.length === 0) return detections;
  return detections.filter((detection) => !masks.some((holdsBox) => holdsBox(detection)));
}

/** Each box with the names of its regions, in the order of the request; masks are none. */
export function sortIntoRegions(
  detections: readonly Detection[],
  regions: readonly Region[],
  image: ImageSize,
): Required<Pick<ProcessedImage, 'detections' | 'regionCounts'>> {
  const counted = regions.filter((region) => !isMask(region));
  const members = counted.map((region) => ({
    name: region.name,
    holdsBox: membership(region, image),
  }));
  const sorted = detections.map((detection) => ({
    ...detection,
    regions: members.filter(({ holdsBox }) => holdsBox(detection)).map(({ name }) => name),
  }));
  return {
    detections: sorted,
    regionCounts: countRegions(
      sorted,
      counted.map(({ name }) => name),
    ),
  };
}

function membership(region: Region, image: ImageSize): (detection: Detection) => boolean {
  const { classes, polygon } = region;
  const names = classes && new Set(classes.map(classKey));
  const anchor = region.anchor ?? ANCHORS[0];
  return ({ box, class: name }) => {
    if (names && !names.has(classKey(name))) return false;
    const [left, top, right, bottom] = sharesOf(box, image);
    const middle = (left + right) / 2;
    if (anchor === 'bottom') return holds(polygon, [middle, bottom]);
    const centre = [middle, (top + bottom) / 2] as const;
    const area = (right - left) * (bottom - top);
    if (anchor === 'centre' || area === 0) return holds(polygon, centre);
    const share = areaWithin(polygon, [left, top, right, bottom]) / area;
    return share > ROUNDING && share >= anchor - ROUNDING;
  };
}

/** Pixels -> shares of the picture; rounding may have put a side of the box beyond it. */
function sharesOf([left, top, right, bottom]: Rectangle, { width, height }: ImageSize): Rectangle {
  const share = (pixels: number, side: number) => Math.min(1, Math.max(0, pixels / side));
  return [share(left, width), share(top, height), share(right, width), share(bottom, height)];
}
