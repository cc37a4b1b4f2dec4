/** A picture with the boxes of two answers: those that were gained, lost and changed, counted and drawn. */
import { signal } from '@preact/signals';
import { useMemo } from 'preact/hooks';
import { countChanges, type Change, type ComparedBox } from '../../boxes/changes.js';
import { plural } from '../text/format.js';
import { ChangeCounts, drawnChanges } from './compared-boxes.js';
import { usePictureMarks } from './marks.js';
import { Picture } from './picture.js';
import type { ImageSize, ShownBox } from './shown-boxes.js';
import { useLargePicture } from './use-picture.js';

interface ComparedPictureProps {
  path: string;
  size: ImageSize;
  compared: readonly ComparedBox<ShownBox>[];
  /** Counts of the changes. Given if boxes that are the same were left out; otherwise they are counted here. */
  counts?: Readonly<Record<Change, number>>;
}

export function ComparedPicture({ path, size, compared, counts }: ComparedPictureProps) {
  const { url, fault } = useLargePicture(path);
  const marks = usePictureMarks();
  const boxes = useMemo(() => signal(drawnChanges(compared)), [compared]);
  const all = counts ?? countChanges(compared);
  return (
    <>
      <ChangeCounts counts={all} />
      <Picture
        url={url}
        alt={`${path} with ${plural(all.gained + all.lost + all.changed, 'change')}`}
        size={size}
        boxes={boxes}
        marks={marks}
      >
        {fault !== null && <p class="stage-note">The picture itself cannot be shown.</p>}
      </Picture>
    </>
  );
}
