/** A picture with its boxes, and the panel that filters them. */
import { useComputed, type ReadonlySignal } from '@preact/signals';
import type { ComponentChildren, JSX } from 'preact';
import type { ImageFields } from '../../client/records.js';
import { useShortcuts } from '../parts/shortcuts.js';
import { plural } from '../text/format.js';
import { BoxList } from './box-list.js';
import { ClassChips } from './class-chips.js';
import type { PictureMarks } from './marks.js';
import { pictureKeys } from './picture-keys.js';
import { Picture } from './picture.js';
import type { BoxFilter } from './box-filter.js';
import type { ShownBox } from './shown-boxes.js';
import { SavePicture } from './save-picture.js';
import { ThresholdSlider } from './threshold-slider.js';
import { TimeBar } from './time-bar.js';
import { timeSteps } from './time-steps.js';

interface DetectedPictureProps {
  image: Pick<ImageFields, 'image' | 'timings_ms' | 'processing_time_ms'>;
  /** Address of the picture; null while there is none. */
  url: string | null;
  /** Why the picture cannot be loaded; null where it can. */
  fault: unknown;
  name: string;
  filter: BoxFilter;
  marks: PictureMarks;
  /** A newer request is under way. */
  isOld?: boolean;
  /** The top of the panel. */
  head: JSX.Element;
  /** Drawn in place of the boxes where they are compared. */
  compared?: ReadonlySignal<readonly ShownBox[] | null>;
  /** Above the time. */
  aside?: JSX.Element;
  /** Drawn over the picture and its boxes. */
  over?: JSX.Element;
  /** Buttons of the picture. */
  tools?: JSX.Element;
  /** Stands in place of the panel's content. */
  instead?: JSX.Element | null;
  note?: JSX.Element | false;
  /** Stands where no box is shown. */
  none?: JSX.Element;
  /** Another choice may bring boxes that are not among the detections. */
  hasMore?: boolean;
  /** Buttons at the end of the panel. */
  children?: ComponentChildren;
}

export function DetectedPicture(props: DetectedPictureProps) {
  const { image, url, fault, name, filter, marks, isOld = false } = props;
  const { detections, boxes } = filter;
  const drawn = useComputed(() => props.compared?.value ?? boxes.value);
  useShortcuts('Picture', pictureKeys(filter, marks));
  return (
    <>
      <div class="answer-picture">
        <Picture
          url={url}
          alt={`${name} with ${plural(boxes.value.length, 'box', 'boxes')}`}
          size={image.image}
          boxes={drawn}
          marks={marks}
          isOld={isOld}
          tools={props.tools}
        >
          {props.over}
          {fault !== null && <p class="stage-note">The picture itself cannot be shown.</p>}
        </Picture>
      </div>
      <section class="card panel" aria-label="Detections">
        <header class="panel-head">
          {props.head}
          <p class="found" role="status">
            <b>{boxes.value.length}</b>{' '}
            {props.hasMore === true
              ? boxes.value.length === 1
                ? 'box'
                : 'boxes'
              : `of ${detections.value.length} shown`}
          </p>
        </header>
        {props.instead ?? <PanelContent {...props} drawn={drawn} />}
      </section>
    </>
  );
}

function PanelContent({
  drawn,
  ...props
}: DetectedPictureProps & { drawn: ReadonlySignal<readonly ShownBox[]> }) {
  const { image, url, name, filter, marks } = props;
  const { detections, boxes } = filter;
  return (
    <>
      {detections.value.length === 0 && props.hasMore !== true ? (
        <p class="none">Nothing was found in this picture.</p>
      ) : (
        <>
          <ClassChips filter={filter} />
          <ThresholdSlider filter={filter} />
          {props.note}
          {boxes.value.length === 0 && props.none ? (
            props.none
          ) : (
            <BoxList boxes={boxes} marks={marks} />
          )}
        </>
      )}
      {props.aside}
      <TimeBar title="Time" ms={image.processing_time_ms} steps={timeSteps(image)} />
      <p class="row panel-actions">
        {props.children}
        <SavePicture url={url} name={name} size={image.image} boxes={drawn} marks={marks} />
      </p>
    </>
  );
}
