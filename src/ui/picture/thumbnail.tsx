import { useEffect, useRef, useState } from 'preact/hooks';
import { Icon } from '../parts/icon.js';
import { classColour } from '../../overlay/class-colour.js';
import type { Detection, ImageSize } from './shown-boxes.js';
import { usePicture } from './use-picture.js';

/** Two device pixels per CSS pixel of a tile of 160. */
const WIDTH = 320;
/** Thumbnails are fetched this far before they come into view. */
const AHEAD = '200px';

interface ThumbnailProps {
  path: string;
  /** Empty where the name stands beside it. */
  alt: string;
  /** A part of the picture: `x1,y1,x2,y2`. Absent: all of it. */
  crop?: string;
  /** Drawn without labels. */
  boxes?: readonly Detection[];
  size?: ImageSize;
}

/** A picture of the image folders, small; fetched when it comes near the view. It fills its tile. */
export function Thumbnail({ path, crop, alt, boxes, size }: ThumbnailProps) {
  const tile = useRef<HTMLSpanElement>(null);
  const [isNear, setNear] = useState(false);
  useEffect(() => {
    const watch = new IntersectionObserver(
      (entries) => setNear(entries.at(-1)?.isIntersecting === true),
      { rootMargin: AHEAD },
    );
    if (tile.current !== null) watch.observe(tile.current);
    return () => watch.disconnect();
  }, []);
  const { url, fault } = usePicture(isNear ? path : null, WIDTH, crop);
  return (
    <span ref={tile} class="thumbnail">
      {url !== null && <img src={url} alt={alt} draggable={false} />}
      {fault !== null && (
        <span class="thumbnail-fault">
          <Icon name="picture" /> Cannot be shown
        </span>
      )}
      {boxes !== undefined && size !== undefined && <BoxLines boxes={boxes} size={size} />}
    </span>
  );
}

/** One path per class: a grid of crowded pictures stays light. */
function BoxLines({ boxes, size }: { boxes: readonly Detection[]; size: ImageSize }) {
  const lines = new Map<string, string>();
  for (const { box, class: name } of boxes) {
    const [x1, y1, x2, y2] = box.map(Math.round) as Detection['box'];
    lines.set(name, `${lines.get(name) ?? ''}M${x1} ${y1}H${x2}V${y2}H${x1}Z`);
  }
  return (
    <svg
      viewBox={`0 0 ${size.width} ${size.height}`}
      preserveAspectRatio="xMidYMid slice"
      aria-hidden="true"
    >
      {[...lines].map(([name, d]) => (
        <g key={name}>
          <path class="casing" d={d} />
          <path d={d} stroke={classColour(name).colour} />
        </g>
      ))}
    </svg>
  );
}
