/** An image of a job with its boxes, its classes and its times. */
import { computed, useComputed, useSignal } from '@preact/signals';
import { useMemo } from 'preact/hooks';
import type { JobImage } from '../../client/records.js';
import { CopyButton } from '../parts/copy-button.js';
import { Foreign } from '../parts/foreign.js';
import { BoxList } from '../picture/box-list.js';
import { ClassChips } from '../picture/class-chips.js';
import { usePictureMarks } from '../picture/marks.js';
import { Picture } from '../picture/picture.js';
import { classCountsAbove, shownBoxes } from '../picture/shown-boxes.js';
import { ThresholdSlider } from '../picture/threshold-slider.js';
import { TimeBar } from '../picture/time-bar.js';
import { timeSteps } from '../picture/time-steps.js';
import { useLargePicture } from '../picture/use-picture.js';
import { fileName, plural } from '../text/format.js';

export function ProcessedImage({ image }: { image: Extract<JobImage, { status: 'ok' }> }) {
  const marks = usePictureMarks();
  const { detections } = image;
  const floor = useMemo(() => Math.min(1, ...detections.map((each) => each.confidence)), [image]);
  const threshold = useSignal(Math.floor(floor * 100) / 100);
  const hidden = useSignal<ReadonlySet<string>>(new Set());
  const boxes = useMemo(
    () =>
      computed(() => shownBoxes(detections, { threshold: threshold.value, hidden: hidden.value })),
    [image],
  );
  const counts = useComputed(() => classCountsAbove(detections, threshold.value));
  const { url, fault } = useLargePicture(image.image_path);
  const { width, height } = image.image;
  const toggle = (name: string): void => {
    const next = new Set(hidden.peek());
    if (!next.delete(name)) next.add(name);
    hidden.value = next;
  };
  return (
    <div class="answer">
      <div class="answer-picture">
        <Picture
          url={url}
          alt={`${fileName(image.image_path)} with ${plural(boxes.value.length, 'box', 'boxes')}`}
          size={image.image}
          boxes={boxes}
          marks={marks}
        >
          {fault !== null && <p class="stage-note">The picture itself cannot be shown.</p>}
        </Picture>
      </div>
      <section class="panel" aria-label="Detections">
        <header class="panel-head">
          <p class="fine">
            <Foreign text={image.image_path} /> <CopyButton text={image.image_path} what="path" />
          </p>
          <p class="fine">
            {width} × {height} px on {image.worker_id}
          </p>
          <p class="found" role="status">
            <b>{boxes.value.length}</b> of {detections.length} shown
          </p>
        </header>
        {detections.length === 0 ? (
          <p class="none">Nothing was found in this picture.</p>
        ) : (
          <>
            <ClassChips counts={counts} hidden={hidden} onToggle={toggle} />
            <ThresholdSlider
              threshold={threshold}
              floor={Math.floor(floor * 100) / 100}
              confidences={detections.map(({ confidence }) => confidence)}
            />
            <BoxList boxes={boxes} marks={marks} />
          </>
        )}
        <TimeBar title="Time" ms={image.processing_time_ms} steps={timeSteps(image)} />
      </section>
    </div>
  );
}
