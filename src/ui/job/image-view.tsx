/** One image of a job, large; the ones before and after it are a key away. */
import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import type { AskOptions, JobImagesQuery } from '../../client/lattice-client.js';
import type { JobImage, JobQuestion } from '../../client/records.js';
import { hashOf } from '../address/address.js';
import { address } from '../address/location.js';
import { useRetries } from '../live/live.js';
import { Button } from '../parts/button.js';
import { Empty } from '../parts/empty.js';
import { Foreign } from '../parts/foreign.js';
import { Icon } from '../parts/icon.js';
import { Problem } from '../parts/problem.js';
import { useShortcuts } from '../parts/shortcuts.js';
import { Skeleton } from '../parts/skeleton.js';
import { useLargePicture } from '../picture/use-picture.js';
import { isEditing } from '../regions/region-choice.js';
import { service } from '../session/session.js';
import { fileName, grouped } from '../text/format.js';
import { imagesQuery, isFiltered, queryOf, type ImageFilter } from './image-filter.js';
import type { JobRecord } from './job-record.js';
import { isNotRun } from './job-tile.js';
import { lastPlace } from './last-place.js';
import { ProcessedImage } from './processed-image.js';
import { questionTexts } from './question.js';
import type { QuestionChoice } from './question-choice.js';

type Shown = Awaited<ReturnType<typeof readAround>>;

interface ImageViewProps {
  record: JobRecord;
  choice: QuestionChoice;
  index: number;
  filter: ImageFilter;
}

export function ImageView({ record, choice, index, filter }: ImageViewProps) {
  const jobId = record.job.value?.job_id ?? '';
  const at = isFiltered(filter) ? Number(address.value.query.at ?? index) : index;
  const { shown, fault } = useShown(record.asked.value, { jobId, filter, at, index });
  useEffect(
    () => () => {
      isEditing.value = false;
    },
    [],
  );
  const asked = questionTexts(address.value.query);
  const link = (image: JobImage, place: number): string =>
    hashOf(
      { screen: 'image', jobId, index: image.index },
      { ...queryOf(filter), ...asked, ...(value?.isFiltered === true && { at: String(place) }) },
    );
  const grid = hashOf({ screen: 'job', jobId }, { ...queryOf(filter), ...asked });
  const { value } = shown;
  const before = value?.before ? link(value.before, value.place - 1) : null;
  const after = value?.after ? link(value.after, value.place + 1) : null;
  useShortcuts('Image', [
    { keys: 'ArrowLeft', title: 'Image before', run: () => replaceWith(before) },
    { keys: 'ArrowRight', title: 'Next image', run: () => replaceWith(after) },
    { keys: 'Escape', title: 'Back to all images', run: () => (location.hash = grid) },
  ]);
  if (fault.value !== null) return <Problem error={fault.value} />;
  if (value === null) return <Skeleton label="Reading the image" lines={6} />;
  return (
    <>
      <header class="image-head">
        <a class="button" href={grid} title="All images">
          <Icon name="left" /> <span>All images</span>
        </a>
        <h1>
          <Foreign text={fileName(value.image.image_path)} />
        </h1>
        <p class="fine" role="status">
          {grouped(value.place + 1)} of {grouped(value.matching)}
        </p>
        <Button
          icon="left"
          class="icon-button"
          name="Image before"
          disabled={before === null}
          onClick={() => replaceWith(before)}
        />
        <Button
          icon="right"
          class="icon-button"
          name="Next image"
          disabled={after === null}
          onClick={() => replaceWith(after)}
        />
      </header>
      <Ahead image={value.after} />
      {value.image.status === 'ok' ? (
        <ProcessedImage image={value.image} own={record.own.value} choice={choice} />
      ) : (
        <NoBoxes image={value.image} />
      )}
    </>
  );
}

/** Steps replace each other in the history: Back leads to the grid. */
function replaceWith(href: string | null): void {
  if (href !== null) location.replace(href);
}

interface Place {
  jobId: string;
  filter: ImageFilter;
  /** Place of the image in the filter, for the question that it was opened with. */
  at: number;
  index: number;
}

/** The image and those around it; what was shown stays until another question is answered. */
function useShown(question: JobQuestion | null, place: Place) {
  const { jobId, filter, at, index } = place;
  const shown = useSignal<Shown | null>(null);
  const fault = useSignal<unknown>(null);
  const retries = useRetries(fault);
  useEffect(() => {
    if (question === null) return undefined;
    const stop = new AbortController();
    readAround(place, { question, signal: stop.signal }).then(
      (found) => {
        shown.value = found;
        fault.value = null;
        // A picture that was opened from one of its boxes leads back to the boxes.
        if (address.peek().query.box === undefined) lastPlace.set(jobId, filter, found.place);
      },
      (error: unknown) => {
        if (!stop.signal.aborted) fault.value = error;
      },
    );
    return () => stop.abort();
  }, [jobId, index, at, JSON.stringify(filter), question, retries]);
  return { shown, fault };
}

/** An image that is not at its place in the filter, because of another question, is shown among all of the job. */
async function readAround({ jobId, filter, at, index }: Place, options: AskOptions) {
  const read = async (place: number, query: JobImagesQuery) => {
    const offset = Math.max(0, place - 1);
    const page = await service.images(jobId, { ...query, offset, limit: 3 }, options);
    const { images, matching } = page;
    const image = images[place - offset];
    const before = place > offset ? (images[0] ?? null) : null;
    const after = images[place - offset + 1] ?? null;
    return { image, before, after, place, matching };
  };
  const filtered = isFiltered(filter) ? await read(at, imagesQuery(filter)) : null;
  const isThere = filtered?.image?.index === index;
  const { image, ...around } = isThere ? filtered : await read(index, {});
  if (image === undefined) throw new Error('The job has no such image.');
  return { image, ...around, isFiltered: isThere };
}

/** The picture that comes next is fetched before it is asked for. */
function Ahead({ image }: { image: JobImage | null }) {
  useLargePicture(image?.image_path ?? null);
  return null;
}

function NoBoxes({ image }: { image: Exclude<JobImage, { status: 'ok' }> }) {
  const { url } = useLargePicture(image.image_path);
  return (
    <>
      {image.status === 'pending' ? (
        <Empty icon="picture" title="This image waits for its turn" />
      ) : isNotRun(image) ? (
        <Empty icon="picture" title="This image was not run">
          <p>The job was cancelled before its turn.</p>
        </Empty>
      ) : (
        <Problem error={image.error} />
      )}
      {url !== null && <img class="plain-picture" src={url} alt={fileName(image.image_path)} />}
    </>
  );
}
