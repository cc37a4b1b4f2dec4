/** The boxes of a job, each as a crop of its picture, least certain first: what to look at to find mistakes. */
import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import type { JobQuestion, JobSummary } from '../../client/records.js';
import { hashOf } from '../address/address.js';
import { address } from '../address/location.js';
import type { AskOptions } from '../../client/lattice-client.js';
import { useRetries } from '../live/live.js';
import { Button } from '../parts/button.js';
import { Empty } from '../parts/empty.js';
import { Foreign } from '../parts/foreign.js';
import { Problem } from '../parts/problem.js';
import { Skeleton } from '../parts/skeleton.js';
import { Swatch } from '../picture/class-chips.js';
import { BoxCrop } from '../picture/box-crop.js';
import { service } from '../session/session.js';
import { grouped, percent, plural } from '../text/format.js';
import { bySureness, cropsOf, leastCertain, type Crop } from './box-crops.js';
import { imagesQuery, type ImageFilter } from './image-filter.js';
import { lastPlace } from './last-place.js';
import { questionTexts } from './question.js';
import { VirtualGrid } from './virtual-grid.js';

/** Boxes that are read at once; a button reads more. */
const MOST = 3_000;
const PAGE = 500;

interface GalleryProps {
  jobId: string;
  summary: JobSummary;
  filter: ImageFilter;
  question: JobQuestion;
}

export function CropGallery({ jobId, summary, filter, question }: GalleryProps) {
  const most = useSignal(MOST);
  const crops = useSignal<readonly Crop[] | null>(null);
  const fault = useSignal<unknown>(null);
  const retries = useRetries(fault);
  const { below, all } = leastCertain(summary, filter, most.value);
  useEffect(() => {
    const stop = new AbortController();
    readCrops(jobId, filter, below, { question, signal: stop.signal }).then(
      (found) => {
        crops.value = found;
        fault.value = null;
      },
      (error: unknown) => {
        if (!stop.signal.aborted) fault.value = error;
      },
    );
    return () => stop.abort();
  }, [jobId, JSON.stringify(filter), question, below, retries]);
  const shown = crops.value;
  if (fault.value !== null) return <Problem error={fault.value} />;
  if (shown === null) return <Skeleton label="Reading the boxes" lines={5} />;
  if (shown.length === 0) return <Empty icon="search" title="No box fits these filters" />;
  return (
    <section class="job-images" aria-label="Boxes">
      <p class="fine" role="status">
        {plural(shown.length, 'box', 'boxes')}, least certain first
        {shown.length < all && ` of ${grouped(all)}`}
      </p>
      <VirtualGrid
        count={shown.length}
        left={lastPlace.of(`${jobId} boxes`, filter)}
        onReturned={() => lastPlace.forget()}
        tile={(place, isTabStop) => {
          const crop = shown[place];
          return crop === undefined ? (
            <span />
          ) : (
            <CropTile
              crop={crop}
              jobId={jobId}
              place={place}
              isTabStop={isTabStop}
              onOpen={() => lastPlace.set(`${jobId} boxes`, filter, place)}
            />
          );
        }}
      />
      {shown.length < all && (
        <p class="row">
          <Button onClick={() => (most.value *= 3)}>Show more certain ones</Button>
        </p>
      )}
    </section>
  );
}

interface TileProps {
  crop: Crop;
  jobId: string;
  place: number;
  isTabStop: boolean;
  onOpen: () => void;
}

function CropTile({ crop, jobId, place, isTabStop, onOpen }: TileProps) {
  const { box, path, index, id, size } = crop;
  return (
    <a
      class="grid-tile ok"
      href={hashOf(
        { screen: 'image', jobId, index },
        {
          ...questionTexts(address.value.query),
          box: String(id),
        },
      )}
      data-place={place}
      tabIndex={isTabStop ? 0 : -1}
      onClick={onOpen}
    >
      <BoxCrop path={path} box={box} size={size} />
      <span class="grid-caption">
        <Swatch name={box.class} />
        <Foreign text={box.class} />
        <b class="count">{percent(box.confidence)}</b>
      </span>
    </a>
  );
}

async function readCrops(
  jobId: string,
  filter: ImageFilter,
  below: number,
  options: AskOptions,
): Promise<Crop[]> {
  const query = {
    ...imagesQuery({ ...filter, outcome: 'found' }),
    confidence_below: below === 1 ? undefined : below,
    limit: PAGE,
  };
  const crops: Crop[] = [];
  for (let offset: number | null = 0; offset !== null;) {
    const page: Awaited<ReturnType<typeof service.images>> = await service.images(
      jobId,
      { ...query, offset },
      options,
    );
    crops.push(...cropsOf(page.images, filter, below));
    offset = page.next_offset;
  }
  return crops.sort(bySureness);
}
