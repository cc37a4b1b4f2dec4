/**
 * Images and boxes over the jobs of a watch or a tag, by time, folder, class or region; two ranges side by side.
 */
import { useEffect } from 'preact/hooks';
import { hashOf } from '../address/address.js';
import { address } from '../address/location.js';
import { Button } from '../parts/button.js';
import { Empty } from '../parts/empty.js';
import { Icon } from '../parts/icon.js';
import { Problem } from '../parts/problem.js';
import { Skeleton } from '../parts/skeleton.js';
import { useNow } from '../parts/use-now.js';
import { loadViews } from '../regions/views.js';
import { isAsked, rangeFault, readChoice } from './counts-choice.js';
import { CountsControls } from './counts-controls.js';
import { CountsResult } from './counts-result.js';
import { useCounts } from './use-counts.js';
import { useScopes } from './use-scopes.js';
import { wallHour } from './wall-hours.js';

const MINUTE_MS = 60_000;

export function CountsView() {
  useEffect(() => void loadViews(), []);
  const { watches, tags, fault } = useScopes();
  const now = wallHour(new Date(useNow(MINUTE_MS) * 1_000));
  const choice = readChoice(address.value.query, now);
  const hasScopes = isAsked(choice) || (watches ?? []).length + (tags ?? []).length > 0;
  return (
    <div class="counts">
      <h1>Counts</h1>
      {fault !== null && <Problem error={fault} />}
      {watches === null && fault === null && <Skeleton label="Reading the watches" lines={4} />}
      {watches !== null && !hasScopes && <NothingToCount />}
      {hasScopes && (
        <>
          <CountsControls choice={choice} watches={watches ?? []} tags={tags ?? []} />
          <Asked choice={choice} />
        </>
      )}
    </div>
  );
}

function Asked({ choice }: { choice: ReturnType<typeof readChoice> }) {
  const wrong = isAsked(choice) ? rangeFault(choice) : 'Choose a watch or a tag.';
  const { shown, fault, isOld, ask } = useCounts(wrong === null ? choice : null);
  if (wrong !== null) {
    return (
      <p class="note" role="status">
        {wrong}
      </p>
    );
  }
  return (
    <>
      {fault !== null && (
        <Problem error={fault}>
          <Button onClick={ask}>Try again</Button>
        </Problem>
      )}
      {shown === null
        ? fault === null && <Skeleton label="Counting" lines={5} />
        : (fault === null || !isOld) && (
            <CountsResult shown={shown} isOld={isOld} onDismissed={ask} />
          )}
    </>
  );
}

function NothingToCount() {
  return (
    <Empty icon="counts" title="There is nothing to count yet">
      <p>
        Counts add up the jobs of a watch, or those with a tag: watch the folder of a camera, or
        give jobs a tag when they are submitted.
      </p>
      <p class="row">
        <a class="button" href={hashOf({ screen: 'watches' })}>
          <Icon name="eye" /> Watch a folder
        </a>
        <a class="button" href={hashOf({ screen: 'jobs' })}>
          <Icon name="jobs" /> Jobs and their tags
        </a>
      </p>
    </Empty>
  );
}
