/** The watches, and the tags of the newest jobs. */
import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { address, setQuery } from '../address/location.js';
import { service } from '../session/session.js';

const NEWEST_JOBS = 100;

interface Scopes {
  watches: string[];
  tags: string[];
}

/** Null until they came. An address that names neither gets the first of them. */
export function useScopes(): { [Name in keyof Scopes]: Scopes[Name] | null } & { fault: unknown } {
  const scopes = useSignal<Scopes | null>(null);
  const fault = useSignal<unknown>(null);
  useEffect(() => {
    readScopes().then(
      (found) => {
        scopes.value = found;
        chooseFirst(found);
      },
      (error: unknown) => (fault.value = error),
    );
  }, [scopes, fault]);
  const { watches, tags } = scopes.value ?? { watches: null, tags: null };
  return { watches, tags, fault: fault.value };
}

async function readScopes(): Promise<Scopes> {
  const [watches, { jobs }] = await Promise.all([
    service.watches(),
    service.listPage({ limit: NEWEST_JOBS }),
  ]);
  return {
    watches: watches.map(({ name }) => name),
    tags: [...new Set(jobs.flatMap((job) => job.tags))].sort(),
  };
}

function chooseFirst({ watches: [watch], tags: [tag] }: Scopes): void {
  const { route, query } = address.peek();
  if (route.screen !== 'counts' || query.watch !== undefined || query.tag !== undefined) return;
  if (watch !== undefined) setQuery({ watch });
  else if (tag !== undefined) setQuery({ tag });
}
