import { Skeleton } from '../parts/skeleton.js';
import { TimeBar } from '../picture/time-bar.js';
import { grouped, plural } from '../text/format.js';
import { readings } from './history.js';
import { failuresOf, newFailures, stepMeans } from './series.js';
import { waiting } from './service-state.js';
import { Gauge } from './worker-list.js';

/** Cards of the waiting work by priority, the times of the stages, and the failures. */
export function WorkCards() {
  const now = readings.value.at(-1);
  const first = readings.value[0];
  const steps = now === undefined || first === undefined ? [] : stepMeans(first, now);
  const failed = now === undefined || first === undefined ? [] : newFailures(first, now);
  const all = steps.reduce((sum, { ms }) => sum + ms, 0);
  return (
    <>
      <section class="card work">
        <h2>Jobs that wait or run</h2>
        <WaitingRows />
      </section>
      {steps.length > 0 && (
        <section class="card work">
          <TimeBar title="Time of an image on average" ms={all} steps={steps} isOpen />
        </section>
      )}
      {failed.length > 0 && now !== undefined && (
        <section class="card work">
          <h2>Failures of the last 15 minutes</h2>
          {failed.map(([code, count]) => (
            <Gauge
              key={code}
              name={code}
              share={count / Math.max(1, failuresOf(now))}
              text={grouped(count)}
            />
          ))}
        </section>
      )}
    </>
  );
}

function WaitingRows() {
  if (waiting.value === null) return <Skeleton label="Asking for the jobs that wait" lines={1} />;
  const { priorities, isCut } = waiting.value;
  if (priorities.length === 0) return <p class="fine">No job waits.</p>;
  const most = Math.max(1, ...priorities.map((each) => each.images));
  return (
    <>
      {priorities.map(({ priority, jobs, images: count }) => (
        <Gauge
          key={priority}
          name={`Priority ${priority}`}
          share={count / most}
          text={`${plural(jobs, 'job')}, ${plural(count, 'image')}`}
        />
      ))}
      {isCut && <p class="fine">Of the newest jobs; there are more.</p>}
    </>
  );
}
