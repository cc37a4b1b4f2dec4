/** The result as a file. */
import { useSignal } from '@preact/signals';
import type { JobStatus, ResultFormat } from '../../client/records.js';
import { Icon } from '../parts/icon.js';
import { Problem } from '../parts/problem.js';
import { apiKey, service } from '../session/session.js';

const FORMATS: readonly { format: ResultFormat; name: string; ending: string }[] = [
  { format: 'json', name: 'JSON', ending: '.json' },
  { format: 'csv', name: 'CSV', ending: '.csv' },
  { format: 'coco', name: 'COCO', ending: '.coco.json' },
  { format: 'yolo', name: 'YOLO', ending: '.zip' },
];

export function JobDownloads({ job }: { job: JobStatus }) {
  const fault = useSignal<unknown>(null);
  const hasKey = apiKey.value !== null;
  return (
    <>
      <ul class="downloads" aria-label="Download the result">
        {FORMATS.map(({ format, name, ending }) => {
          const path = `/v1/jobs/${encodeURIComponent(job.job_id)}/result?format=${format}`;
          const fetchFile = (event: Event): void => {
            event.preventDefault();
            fault.value = null;
            save(job.job_id, format, ending).catch((error: unknown) => (fault.value = error));
          };
          return (
            <li key={format}>
              <a
                class="button"
                href={path}
                download={`${job.job_id}${ending}`}
                onClick={hasKey ? fetchFile : undefined}
              >
                <Icon name="download" /> {name}
              </a>
            </li>
          );
        })}
      </ul>
      {fault.value !== null && <Problem error={fault.value} />}
    </>
  );
}

/** A link cannot send a key: the file is fetched first. */
async function save(jobId: string, format: ResultFormat, ending: string): Promise<void> {
  const chunks: Uint8Array<ArrayBuffer>[] = [];
  for await (const chunk of service.export(jobId, format)) chunks.push(chunk);
  const url = URL.createObjectURL(new Blob(chunks));
  const link = document.createElement('a');
  link.href = url;
  link.download = `${jobId}${ending}`;
  link.click();
  setTimeout(() => {
    URL.revokeObjectURL(url);
  }, 60_000);
}
