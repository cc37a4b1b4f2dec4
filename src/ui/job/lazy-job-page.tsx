/** The page of a job, loaded when it is opened: the first view of the live page does not need it. */
import { useEffect, useState } from 'preact/hooks';
import { Problem } from '../parts/problem.js';
import { Skeleton } from '../parts/skeleton.js';

type Page = typeof import('./job-page.js');

let loaded: Page | null = null;

export function LazyJobPage({ jobId }: { jobId: string }) {
  const [page, setPage] = useState(loaded);
  const [fault, setFault] = useState<unknown>(null);
  useEffect(() => {
    if (loaded !== null) return;
    import('./job-page.js').then((module) => {
      loaded = module;
      setPage(module);
    }, setFault);
  }, []);
  if (fault !== null) return <Problem error={fault} />;
  if (page === null) return <Skeleton label="Loading the page of the job" lines={4} />;
  return <page.JobPage jobId={jobId} />;
}
