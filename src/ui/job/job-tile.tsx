/** One image of a job's grid: its picture with boxes, or why there is none. */
import type { JobImage } from '../../client/records.js';
import { hashOf } from '../address/address.js';
import { address } from '../address/location.js';
import { Foreign } from '../parts/foreign.js';
import { Icon } from '../parts/icon.js';
import { Thumbnail } from '../picture/thumbnail.js';
import { fileName } from '../text/format.js';
import { isFiltered, passingBoxes, queryOf, type ImageFilter } from './image-filter.js';
import { lastPlace } from './last-place.js';
import { questionTexts } from './question.js';

/** The job was cancelled before its turn. */
export function isNotRun(image: JobImage): boolean {
  return image.status === 'error' && image.error.code === 'cancelled';
}

interface JobTileProps {
  jobId: string;
  filter: ImageFilter;
  place: number;
  image: JobImage | undefined;
  isTabStop: boolean;
}

export function JobTile({ jobId, filter, place, image, isTabStop }: JobTileProps) {
  const tabIndex = isTabStop ? 0 : -1;
  // The same element as later: the focus stays when the image comes.
  if (image === undefined) {
    return (
      <a
        class="grid-tile blank"
        data-place={place}
        tabIndex={tabIndex}
        role="img"
        aria-label="Loading"
      />
    );
  }
  const name = fileName(image.image_path);
  const boxes = image.status === 'ok' ? passingBoxes(image.detections, filter) : [];
  const href = hashOf(
    { screen: 'image', jobId, index: image.index },
    {
      ...queryOf(filter),
      ...questionTexts(address.value.query),
      ...(isFiltered(filter) ? { at: String(place) } : {}),
    },
  );
  return (
    <a
      class={`grid-tile ${isNotRun(image) ? 'pending' : image.status}`}
      href={href}
      data-place={place}
      tabIndex={tabIndex}
      onClick={() => lastPlace.set(jobId, filter, place)}
    >
      {image.status === 'ok' ? (
        <Thumbnail path={image.image_path} alt="" boxes={boxes} size={image.image} />
      ) : (
        <span class="thumbnail">
          {image.status === 'error' && !isNotRun(image) ? (
            <span class="tile-error">
              <Icon name="warning" /> {image.error.title}
            </span>
          ) : (
            <span class="fine">{image.status === 'pending' ? 'waiting' : 'not run'}</span>
          )}
        </span>
      )}
      <span class="grid-caption">
        <Foreign text={name} />
        {image.status === 'ok' && (
          <b class="count">
            {boxes.length}
            <span class="hidden-label"> {boxes.length === 1 ? 'box' : 'boxes'}</span>
          </b>
        )}
      </span>
    </a>
  );
}
