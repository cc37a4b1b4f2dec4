import type { ComponentType } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { Problem } from './problem.js';
import { Skeleton } from './skeleton.js';

/** A component whose script is loaded when it is shown first. */
export function lazy<Props extends object>(
  label: string,
  load: () => Promise<ComponentType<Props>>,
): ComponentType<Props> {
  let loaded: ComponentType<Props> | null = null;
  return function Lazy(props: Props) {
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
        (fault: unknown) => setState({ fault, isLoaded: false }),
      );
    }, []);
    if (loaded !== null) {
      const Loaded = loaded;
      return <Loaded {...props} />;
    }
    return state.fault === null ? (
      <Skeleton label={label} lines={5} />
    ) : (
      <Problem error={state.fault} />
    );
  };
}
