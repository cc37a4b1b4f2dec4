/** Events, each with its best image: newest first, so many at a time. */
import { useSignal } from '@preact/signals';
import { Button } from '../parts/button.js';
import { Foreign } from '../parts/foreign.js';
import { ImageLink } from '../picture/image-link.js';
import { Thumbnail } from '../picture/thumbnail.js';
import { grouped, plural } from '../text/format.js';
import { boxesOf } from './count-rows.js';
import { boxes, eventTime } from './count-words.js';
import type { CountsChoice } from './counts-choice.js';
import { questionTexts, type CountGroup, type ShownCounts } from './counts-request.js';

const EVENTS_PER_STEP = 48;

interface EventListProps {
  shown: ShownCounts;
  hidden: ReadonlySet<string>;
}

export function EventList({ shown, hidden }: EventListProps) {
  const steps = useSignal(1);
  const events = shown.counts.groups.toReversed();
  const listed = events.slice(0, steps.value * EVENTS_PER_STEP);
  return (
    <section class="card">
      <h2>Events</h2>
      <p class="fine">
        An event counts the most boxes of each class that one of its images has. It shows the image
        with the most boxes.
      </p>
      <ul class="event-list">
        {listed.map((event, at) => (
          <li key={at}>
            <Event event={event} choice={shown.choice} hidden={hidden} />
          </li>
        ))}
      </ul>
      {listed.length < events.length && (
        <Button onClick={() => (steps.value += 1)}>
          Show more of {grouped(events.length)} events
        </Button>
      )}
    </section>
  );
}

interface EventProps {
  event: CountGroup;
  choice: CountsChoice;
  hidden: ReadonlySet<string>;
}

function Event({ event, choice, hidden }: EventProps) {
  const { best_image: best, camera, class_counts: classes } = event;
  const shownClasses = Object.entries(classes).filter(([name]) => !hidden.has(name));
  return (
    <>
      <ImageLink
        image={best}
        name={`Image with the most boxes of ${eventTime(event)}`}
        texts={questionTexts(choice)}
      >
        <Thumbnail path={best?.image_path ?? ''} alt="" />
      </ImageLink>
      <b>{eventTime(event)}</b>
      {camera !== null && camera !== undefined && <Foreign text={camera} />}
      <span>
        {boxes(boxesOf(classes, hidden))}
        {shownClasses.length > 0 && `: ${shownClasses.map(countText).join(', ')}`}
      </span>
      <span class="fine">
        {plural(event.images, 'image')}
        {event.failed_images > 0 && `, ${grouped(event.failed_images)} failed`}
      </span>
    </>
  );
}

const countText = ([name, count]: [string, number]): string => `${grouped(count)} ${name}`;
