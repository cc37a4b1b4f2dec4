/** The answer to a choice: its sums, its chart, the same numbers as a table, and its files. */
import { setQuery } from '../address/location.js';
import { Button } from '../parts/button.js';
import { Empty } from '../parts/empty.js';
import { ClassChips } from '../picture/class-chips.js';
import { plural } from '../text/format.js';
import { BarList } from './bar-list.js';
import { boxTicks } from './chart-axes.js';
import { boxesOf, classesOf, pairsOf, rowBoxes, rowsOf, type ShownRows } from './count-rows.js';
import { boxes, differenceText, leftOutTexts, perImage, totalText } from './count-words.js';
import type { Counts } from '../../client/records.js';
import type { ShownCounts } from './counts-request.js';
import { isOfStoredJobs } from './counts-choice.js';
import { CountsFiles, PlacesFiles } from './counts-files.js';
import { EventList } from './event-list.js';
import { CountsTable } from './counts-table.js';
import { PlaceList } from './place-list.js';
import { filterOf, hiddenClasses } from './shown-classes.js';
import { TimeCharts } from './time-chart.js';
import { DAY_H, hourOf, rangeText, type HourRange } from './wall-hours.js';

interface CountsResultProps {
  shown: ShownCounts;
  isOld: boolean;
  /** A place was dismissed, or is counted again. */
  onDismissed: () => void;
}

export function CountsResult({ shown, isOld, onDismissed }: CountsResultProps) {
  const { counts, other } = shown;
  const classes = classesOf(shown);
  const hidden = hiddenClasses();
  const { rows, others } = rowsOf(shown, hidden);
  const isEmpty = counts.total.images === 0 && (other?.total.images ?? 0) === 0;
  return (
    <div class={isOld ? 'counts-result old' : 'counts-result'} aria-busy={isOld}>
      <Sums shown={shown} hidden={hidden} />
      {isEmpty ? (
        <NoImages shown={shown} />
      ) : (
        <>
          {classes.length > 1 && <ClassChips filter={filterOf(classes)} />}
          {rows.by === 'place' && (
            <PlaceList
              key={JSON.stringify(shown.choice)}
              choice={shown.choice}
              onDismissed={onDismissed}
            />
          )}
          {rows.by === 'event' && <EventList shown={shown} hidden={hidden} />}
          {rows.by !== 'place' && rows.by !== 'event' && (
            <>
              <Chart shown={shown} rows={rows} others={others} hidden={hidden} />
              <CountsTable shown={shown} rows={rows} others={others} hidden={hidden} />
            </>
          )}
          {rows.by === 'place' ? (
            <PlacesFiles choice={shown.choice} />
          ) : (
            <CountsFiles shown={shown} rows={rows} others={others} hidden={hidden} />
          )}
        </>
      )}
    </div>
  );
}

function Chart({ shown, rows, others, hidden }: ShownRows) {
  if (rows.by === 'region' && rows.rows.length + (others?.rows.length ?? 0) === 0) {
    return (
      <p class="note">
        These images were asked for no regions. Choose a view to count by its regions.
      </p>
    );
  }
  const pairs = pairsOf(rows.rows, others?.rows ?? []);
  const most = Math.max(
    0,
    ...pairs.map(({ row, other }) =>
      Math.max(rowBoxes(row, hidden) ?? 0, rowBoxes(other, hidden) ?? 0),
    ),
  );
  const ticks = boxTicks(most);
  const isTime = rows.by === 'hour' || rows.by === 'day';
  const { choice } = shown;
  const titles = [rangeText(choice.hours), choice.otherHours && rangeText(choice.otherHours)];
  return (
    <>
      {isTime ? (
        <TimeCharts rows={rows} others={others} titles={titles} ticks={ticks} hidden={hidden} />
      ) : (
        <BarList
          pairs={pairs}
          titles={titles}
          ticks={ticks}
          hidden={hidden}
          isCompared={others !== null}
        />
      )}
      {choice.by === 'hour' && rows.by === 'day' && (
        <p class="fine">By day: the hours are too many for a chart. The CSV file has them.</p>
      )}
    </>
  );
}

/** The sums of both ranges, how they differ, and what they leave out. */
function Sums({ shown, hidden }: { shown: ShownCounts; hidden: ReadonlySet<string> }) {
  const { choice, counts, other } = shown;
  const count = boxesOf(counts.total.class_counts, hidden);
  const before = other && boxesOf(other.total.class_counts, hidden);
  return (
    <div class="counts-sums">
      <Sum title={rangeText(choice.hours)} counts={counts} count={count} shown={shown} />
      {other !== null && before !== null && (
        <>
          <Sum
            title={rangeText(choice.otherHours ?? choice.hours)}
            counts={other}
            count={before}
            shown={{ ...shown, everything: null }}
          />
          <div class="card counts-sum">
            <h2>Difference</h2>
            <p class="counts-number" role="status">
              {differenceText(count, before)}
            </p>
            {choice.eventGap === null && (
              <p class="fine">
                Boxes per image: {perImage(counts.total, count) ?? 'no image'}; in the other range{' '}
                {perImage(other.total, before) ?? 'no image'}
              </p>
            )}
          </div>
        </>
      )}
    </div>
  );
}

interface SumProps {
  title: string;
  counts: Counts;
  /** Boxes of the classes that are shown. */
  count: number;
  shown: ShownCounts;
}

function Sum({ title, counts, count, shown }: SumProps) {
  const leftOut = leftOutTexts(counts, shown);
  return (
    <div class="card counts-sum">
      <h2>{title}</h2>
      <p class="counts-number">{boxes(count)}</p>
      <p class="fine">
        {shown.choice.eventGap !== null && `${plural(counts.groups.length, 'event')} of `}
        {totalText(counts.total)}
      </p>
      {leftOut.length > 0 && (
        <ul class="counts-left-out" aria-label="Left out">
          {leftOut.map((text) => (
            <li key={text}>{text}</li>
          ))}
        </ul>
      )}
    </div>
  );
}

function NoImages({ shown: { choice, counts, everything } }: { shown: ShownCounts }) {
  const isLeftOut = counts.unanswered_images + counts.removed_images > 0;
  if (isLeftOut && isOfStoredJobs(choice)) {
    return (
      <Empty icon="counts" title="No image of this range can answer this question">
        <Button class="primary" onClick={() => setQuery({ view: '', min: '', by: '' })}>
          Count by hour, as each job asked
        </Button>
      </Empty>
    );
  }
  const all = everything ?? counts;
  if (all.total.images === 0) {
    return (
      <Empty icon="clock" title="No images yet">
        <p>They are counted as soon as they have ended.</p>
      </Empty>
    );
  }
  const known = knownTimes(all);
  return (
    <Empty icon="clock" title="No images in this range">
      <p>
        {plural(all.total.images, 'image')} in all
        {known && `, taken in ${rangeText(known)}`}.
      </p>
      <Button class="primary" onClick={() => setQuery({ range: 'all', with: '' })}>
        Show all times
      </Button>
    </Empty>
  );
}

/** From the first day with an image to the last one. */
function knownTimes({ groups }: Counts): HourRange | null {
  const days = groups.flatMap(({ group }) => hourOf(group ?? '') ?? []);
  return days.length === 0 ? null : { from: Math.min(...days), to: Math.max(...days) + DAY_H };
}
