/** An image of a job with its boxes, its classes and its times. */
import { useSignal } from '@preact/signals';
import { useEffect, useMemo } from 'preact/hooks';
import type { JobImage, JobSummary } from '../../client/records.js';
import { address } from '../address/location.js';
import { CopyButton } from '../parts/copy-button.js';
import { Foreign } from '../parts/foreign.js';
import { DetectedPicture } from '../picture/detected-picture.js';
import { usePictureMarks } from '../picture/marks.js';
import { useLargePicture } from '../picture/use-picture.js';
import { WHOLE } from '../picture/view-window.js';
import { showUsed, used } from '../regions/region-choice.js';
import { useRegionLayer } from '../regions/region-layer.js';
import { RegionCounts } from '../regions/region-shapes.js';
import { regionSums } from '../regions/region-sums.js';
import { fileName } from '../text/format.js';
import { AddClass } from './class-list.js';
import { imageFilter, type QuestionChoice } from './question-choice.js';

type Image = Extract<JobImage, { status: 'ok' }>;

interface ProcessedImageProps {
  image: Image;
  own: JobSummary | null;
  choice: QuestionChoice;
}

export function ProcessedImage({ image, own, choice }: ProcessedImageProps) {
  const { image_path: path, detections, index } = image;
  const { width, height } = image.image;
  const { url, fault } = useLargePicture(path);
  const marks = usePictureMarks();
  const shown = useSignal(detections);
  // One signal for all images: what is computed of it does not look for another one.
  shown.value = detections;
  const filter = useMemo(() => imageFilter(shown, choice), [shown, choice]);
  const counts = regionSums(image.region_counts);
  const { listed = [], others = [] } = choice.classes.value ?? {};
  const layer = useRegionLayer(marks, counts, [...listed.map(({ name }) => name), ...others]);
  useEffect(() => {
    marks.active.value = null;
    // The boxes of another question have other numbers; the address has that of this one.
    const chosen = address.peek().query.box;
    marks.pinned.value = chosen === undefined ? null : Number(chosen);
  }, [image]);
  useEffect(() => {
    marks.viewWindow.value = WHOLE;
    marks.zoomTo.value = marks.pinned.peek();
  }, [index]);
  useEffect(() => showRegions(image, own), [image, own]);
  return (
    <div class="answer">
      <DetectedPicture
        image={image}
        url={url}
        fault={fault}
        name={fileName(path)}
        filter={filter}
        marks={marks}
        hasMore
        {...layer}
        aside={
          <>
            <RegionCounts counts={counts} />
            <AddClass names={others} choice={choice} />
          </>
        }
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

/** The regions of the view that the image names, else those of the job's request. */
function showRegions({ view }: Image, own: JobSummary | null): void {
  showUsed(view);
  const regions = own?.request.regions ?? [];
  if (view === undefined && regions.length > 0) {
    used.value = { name: '', version: 0, regions: [...regions] };
  }
}
