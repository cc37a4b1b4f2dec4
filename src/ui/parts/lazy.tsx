import type { ComponentType } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { Problem } from './problem.js';
import { Skeleton } from './skeleton.js';

/** A view whose script is loaded when it is opened first. */
export function lazy(label: string, load: () => Promise<ComponentType>): ComponentType {
  let loaded: ComponentType | null = null;
  return function Lazy() {
    const [state, setState] = useState<{ fault: unknown; isLoaded: boolean }>({
      fault: null,
      isLoaded: loaded !== null,
    });
    useEffect(() => {
      if (loaded !== null) return;
      load().then(
        (component) => {
          loaded = component;
          setState({ fault: null, isLoaded: true });
        },
        (fault: unknown) => {
          setState({ fault, isLoaded: false });
        },
      );
    }, []);
    if (loaded !== null) {
      const Loaded = loaded;
      return <Loaded />;
    }
    return state.fault === null ? (
      <Skeleton label={label} lines={5} />
    ) : (
      <Problem error={state.fault} />
    );
  };
}
