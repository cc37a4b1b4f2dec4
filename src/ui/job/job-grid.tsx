/** The images of a job as pictures with their boxes. */
import { useEffect, useRef, useState } from 'preact/hooks';
import type { JobQuestion, JobStatus } from '../../client/records.js';
import { setQuery } from '../address/location.js';
import { Button } from '../parts/button.js';
import { Empty } from '../parts/empty.js';
import { Problem } from '../parts/problem.js';
import { service } from '../session/session.js';
import { plural } from '../text/format.js';
import { imagesQuery, isFiltered, NO_FILTER, type ImageFilter } from './image-filter.js';
import { ImagePages, type FetchImages } from './image-pages.js';
import { JobTile } from './job-tile.js';
import { lastPlace } from './last-place.js';
import { VirtualGrid } from './virtual-grid.js';

interface GridProps {
  job: JobStatus;
  filter: ImageFilter;
  question: JobQuestion;
  /** Grows when the images have changed. */
  epoch: number;
}

export function JobGrid({ job, filter, question, epoch }: GridProps) {
  const jobId = job.job_id;
  const [, draw] = useState(0);
  const pages = useRef<ImagePages | undefined>(undefined);
  const shown = useRef(question);
  const fetch: FetchImages = (offset, limit, signal) =>
    service.images(jobId, { ...imagesQuery(filter), offset, limit }, { signal, question });
  pages.current ??= new ImagePages({
    fetch,
    onChange: () => draw((before) => before + 1),
  });
  const images = pages.current;
  const known = images.matching ?? (isFiltered(filter) ? 0 : job.image_count);

  useEffect(() => () => images.close(), [images]);
  useEffect(() => {
    if (epoch > 0) images.refresh();
  }, [images, epoch]);
  useEffect(() => {
    if (shown.current !== question) images.refetch(fetch);
    shown.current = question;
  }, [images, question]);
  const problem = images.fault !== null && <Problem error={images.fault} />;
  if (images.matching === null && problem !== false) return problem;
  return (
    <section class="job-images" aria-label="Images">
      {problem}
      <p class="fine" role="status">
        {images.matching === null ? 'Reading the images' : countText(images.matching, job, filter)}
      </p>
      {images.matching === 0 ? (
        <NoImages />
      ) : (
        <VirtualGrid
          count={known}
          onView={(first, end) => images.want(first, end)}
          left={lastPlace.of(jobId, filter)}
          onReturned={() => lastPlace.forget()}
          tile={(place, isTabStop) => (
            <JobTile
              jobId={jobId}
              filter={filter}
              place={place}
              image={images.at(place)}
              isTabStop={isTabStop}
            />
          )}
        />
      )}
    </section>
  );
}

function countText(matching: number, job: JobStatus, filter: ImageFilter): string {
  return isFiltered(filter)
    ? `${plural(matching, 'image')} of ${plural(job.image_count, 'image')}`
    : plural(matching, 'image');
}

function NoImages() {
  return (
    <Empty icon="search" title="No image fits these filters">
      <Button onClick={() => setQuery(NO_FILTER)}>Clear the filters</Button>
    </Empty>
  );
}
