/** An image of a job with its boxes, its classes and its times. */
import { signal } from '@preact/signals';
import { useMemo } from 'preact/hooks';
import type { JobImage } from '../../client/records.js';
import { CopyButton } from '../parts/copy-button.js';
import { Foreign } from '../parts/foreign.js';
import { DetectedPicture } from '../picture/detected-picture.js';
import { usePictureMarks } from '../picture/marks.js';
import { boxFilter } from '../picture/box-filter.js';
import { useLargePicture } from '../picture/use-picture.js';
import { fileName } from '../text/format.js';

export function ProcessedImage({ image }: { image: Extract<JobImage, { status: 'ok' }> }) {
  const { image_path: path, detections } = image;
  const { width, height } = image.image;
  const least = Math.min(1, ...detections.map(({ confidence }) => confidence));
  const floor = Math.floor(least * 100) / 100;
  const { url, fault } = useLargePicture(path);
  const marks = usePictureMarks();
  const filter = useMemo(() => boxFilter(signal(detections), floor), [image]);
  return (
    <div class="answer">
      <DetectedPicture
        image={image}
        url={url}
        fault={fault}
        name={fileName(path)}
        filter={filter}
        floor={floor}
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
