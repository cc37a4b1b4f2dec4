import type { ComponentType } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { isCutOff, untilAnswer } from '../live/live.js';
import { Button } from './button.js';
import { Empty } from './empty.js';
import { Problem } from './problem.js';
import { Skeleton } from './skeleton.js';

/** Tries of a service that answers. */
const TRIES = 2;

type State = 'loading' | 'loaded' | 'away' | 'refused';

/**
 * A component whose script is loaded when it is shown first; while the service is away, as soon as it is back.
 * `heading`: of a whole view, until it is there.
 */
export function lazy<Props extends object>(
  label: string,
  load: () => Promise<ComponentType<Props>>,
  heading?: string,
): ComponentType<Props> {
  let loaded: ComponentType<Props> | null = null;
  const loadUntilLoaded = async (show: (state: State) => void, stop: AbortSignal) => {
    for (let tries = 0; tries < TRIES && !stop.aborted; tries++) {
      try {
        // Some browsers never fetch a script again that they could not fetch once.
        if (isCutOff()) await untilAnswer(() => show('away'));
        loaded ??= await load();
        show('loaded');
        return;
      } catch {
        if (await untilAnswer(() => show('away'))) tries = -1;
      }
    }
    show('refused');
  };
  return function Lazy(props: Props) {
    const [state, setState] = useState<State>(loaded === null ? 'loading' : 'loaded');
    useEffect(() => {
      if (loaded !== null) return undefined;
      const stop = new AbortController();
      const show = (next: State): void => {
        if (!stop.signal.aborted) setState(next);
      };
      void loadUntilLoaded(show, stop.signal);
      return () => stop.abort();
    }, []);
    if (loaded !== null) {
      const Loaded = loaded;
      return <Loaded {...props} />;
    }
    return (
      <>
        {heading !== undefined && <h1 class="hidden-heading">{heading}</h1>}
        {state === 'away' && <Away />}
        {state === 'refused' && <Refused />}
        {state === 'loading' && <Skeleton label={label} lines={5} />}
      </>
    );
  };
}

function Away() {
  return (
    <div role="status">
      <Empty icon="service" title="The service is away">
        <p>This part of the page opens as soon as the service answers again.</p>
      </Empty>
    </div>
  );
}

/** The page in the browser may be of another version than the service since its return. */
function Refused() {
  const error = {
    title: 'This part of the page cannot be loaded',
    detail: 'The service answers, but it may have another version than this page.',
    code: 'page',
  };
  return (
    <Problem error={error}>
      <Button icon="retry" onClick={() => location.reload()}>
        Load the page again
      </Button>
    </Problem>
  );
}
