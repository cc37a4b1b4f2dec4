/** An image of a job with its boxes, its classes and its times. */
import { signal } from '@preact/signals';
import { useEffect, useMemo } from 'preact/hooks';
import type { JobImage } from '../../client/records.js';
import { address } from '../address/location.js';
import { CopyButton } from '../parts/copy-button.js';
import { Foreign } from '../parts/foreign.js';
import { DetectedPicture } from '../picture/detected-picture.js';
import { usePictureMarks } from '../picture/marks.js';
import { boxFilter } from '../picture/box-filter.js';
import { floorOf } from '../picture/shown-boxes.js';
import { useLargePicture } from '../picture/use-picture.js';
import { WHOLE } from '../picture/view-window.js';
import { fileName } from '../text/format.js';

interface ProcessedImageProps {
  image: Extract<JobImage, { status: 'ok' }>;
  /** The threshold that the job ran with. */
  threshold: number;
}

export function ProcessedImage({ image, threshold }: ProcessedImageProps) {
  const { image_path: path, detections } = image;
  const { width, height } = image.image;
  const { url, fault } = useLargePicture(path);
  const marks = usePictureMarks();
  const filter = useMemo(() => {
    // A class with a threshold of its own may have boxes below that of the job.
    const floor = signal(Math.min(threshold, floorOf(detections)));
    return boxFilter(signal(detections), { floor, first: floor, known: signal(0) });
  }, [image, threshold]);
  const chosen = address.value.query.box;
  useEffect(() => {
    const id = chosen === undefined ? null : Number(chosen);
    marks.active.value = null;
    marks.pinned.value = id;
    marks.viewWindow.value = WHOLE;
    marks.zoomTo.value = id;
  }, [image]);
  return (
    <div class="answer">
      <DetectedPicture
        image={image}
        url={url}
        fault={fault}
        name={fileName(path)}
        filter={filter}
        marks={marks}
        head={
          <>
            <p class="fine">
              <Foreign text={path} /> <CopyButton text={path} what="path" />
            </p>
            <p class="fine">
              {width} × {height} px on {image.worker_id}
            </p>
          </>
        }
      />
    </div>
  );
}
