/** Places in which vehicles stood, each with its surest box. One that should not be counted is dismissed here. */
import type { Places } from '../../client/records.js';
import { useRepeated } from '../live/use-repeated.js';
import { Button } from '../parts/button.js';
import { Empty } from '../parts/empty.js';
import { Foreign } from '../parts/foreign.js';
import { Problem } from '../parts/problem.js';
import { Skeleton } from '../parts/skeleton.js';
import { BoxCrop } from '../picture/box-crop.js';
import { ImageLink } from '../picture/image-link.js';
import { service } from '../session/session.js';
import { plural } from '../text/format.js';
import { spanText } from './count-words.js';
import type { CountsChoice } from './counts-choice.js';
import { placesQuery, questionOf, questionTexts } from './counts-request.js';

type Place = Places['places'][number];

interface PlaceListProps {
  /** Another one needs another key. */
  choice: CountsChoice;
  onDismissed: () => void;
}

export function PlaceList({ choice, onDismissed }: PlaceListProps) {
  const question = questionOf(choice);
  const { answer, fault, actionFault, act } = useRepeated(() =>
    service.places(placesQuery(choice), { question }),
  );
  const change = async (work: Promise<unknown>): Promise<void> => {
    if (await act(work)) onDismissed();
  };
  const places = answer.value?.places.toSorted(byNews) ?? null;
  if (places === null) {
    return fault.value === null ? (
      <Skeleton label="Reading the places" lines={4} />
    ) : (
      <Problem error={fault.value} />
    );
  }
  const standing = places.filter(({ occupied }) => occupied);
  return (
    <section class="card">
      <h2>Places</h2>
      <p class="fine">
        A vehicle that is seen in one place in several images over minutes stands there. A dismissed
        place is left out of counts from then on.
      </p>
      {actionFault.value !== null && <Problem error={actionFault.value} />}
      {places.length === 0 ? (
        <Empty icon="counts" title="No vehicle stood in these images" />
      ) : (
        <>
          <p role="status">
            {plural(places.length, 'place')}, {standing.length} of them occupied in the last image
          </p>
          <ul class="event-list">
            {places.map((place) => (
              <li
                key={`${place.camera} ${place.place}`}
                class={place.dismissal === null ? '' : 'off'}
              >
                <PlaceCard
                  cameraPattern={choice.cameraPattern}
                  place={place}
                  texts={questionTexts(choice)}
                  onChange={change}
                />
              </li>
            ))}
          </ul>
        </>
      )}
    </section>
  );
}

/** Those that are occupied first, then those that were left last. */
function byNews(a: Place, b: Place): number {
  const left = (place: Place): string => place.stays.at(-1)?.last_seen ?? '';
  return Number(b.occupied) - Number(a.occupied) || left(b).localeCompare(left(a));
}

interface PlaceCardProps {
  place: Place;
  /** The question as the address of an image has it. */
  texts: Record<string, string>;
  /** By which the place was found; null: it is of the folder. */
  cameraPattern: string | null;
  onChange: (work: Promise<unknown>) => Promise<void>;
}

function PlaceCard({ place, texts, cameraPattern, onChange }: PlaceCardProps) {
  const { camera, class: name, box, image, best_image: best, regions, dismissal } = place;
  return (
    <>
      <ImageLink
        image={best}
        name={`Image with the surest ${name} of place ${place.place}`}
        texts={texts}
      >
        <BoxCrop
          path={best?.image_path ?? ''}
          box={{ box, class: name, confidence: place.confidence }}
          size={image}
        />
      </ImageLink>
      <b>
        {regions.length > 0 && <Foreign text={`${regions.join(', ')}: `} />}
        {plural(place.stays.length + place.older_stays, 'stay')}
      </b>
      <span>{lastStay(place)}</span>
      {camera !== null && <Foreign text={camera} />}
      <span>
        <Foreign text={name} />, in {place.seen_images} of {plural(place.images, 'image')}
      </span>
      {dismissal !== null && (
        <Button onClick={() => void onChange(service.deleteDismissal(dismissal))}>
          Dismissed: count again
        </Button>
      )}
      {dismissal === null && best !== null && (
        <Button
          name={`Dismiss place ${place.place}: leave it out of counts`}
          onClick={() =>
            void onChange(
              service.dismissPlace({
                job_id: best.job_id,
                index: best.index,
                class: name,
                box,
                camera_pattern: cameraPattern,
              }),
            )
          }
        >
          Dismiss
        </Button>
      )}
    </>
  );
}

function lastStay({ stays, occupied }: Place): string {
  const last = stays.at(-1);
  if (last === undefined) return '';
  if (occupied) return `Since ${last.since.replace('T', ' ')}`;
  const span = spanText(last.since, last.last_seen);
  return stays.length > 1 ? `Last: ${span}` : span;
}
