/** Boxes of a job by hour, day or folder, as a chart that is asked for when it is opened. */
import { signal, useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { queryOf } from '../../client/api-calls.js';
import type {
  CountsBy,
  JobCountGroup,
  JobCounts,
  JobQuestion,
  JobStatus,
} from '../../client/records.js';
import { Button } from '../parts/button.js';
import { FileLink } from '../parts/file-link.js';
import { Foreign } from '../parts/foreign.js';
import { Problem } from '../parts/problem.js';
import { Skeleton } from '../parts/skeleton.js';
import { service, show } from '../session/session.js';
import { grouped, plural } from '../text/format.js';

const CHOICES: [CountsBy, string][] = [
  ['hour', 'Hour'],
  ['day', 'Day'],
  ['folder', 'Folder'],
];
const HEIGHT = 40;

/** The grouping for all jobs: it stays when another job is opened. */
const by = signal<CountsBy>('hour');

interface ChartProps {
  job: JobStatus;
  question: JobQuestion;
}

export function BoxesChart(props: ChartProps) {
  const isOpen = useSignal(false);
  return (
    <div class="job-details">
      <details class="card" onToggle={({ currentTarget }) => (isOpen.value = currentTarget.open)}>
        <summary>Boxes by hour, day or folder</summary>
        {isOpen.value && <Chart {...props} />}
      </details>
    </div>
  );
}

function Chart({ job: { job_id: jobId, status }, question }: ChartProps) {
  const counts = useSignal<JobCounts | null>(null);
  const fault = useSignal<unknown>(null);
  useEffect(() => {
    void show(service.counts(jobId, by.value, { question }), counts, fault);
  }, [jobId, status, by.value, question, counts, fault]);
  return (
    <div class="confidences">
      <ul class="downloads" aria-label="Count by">
        {CHOICES.map(([choice, name]) => (
          <li key={choice}>
            <Button
              class="chip"
              aria-pressed={by.value === choice}
              onClick={() => (by.value = choice)}
            >
              {name}
            </Button>
          </li>
        ))}
        <li>
          <FileLink
            path={`/v1/jobs/${encodeURIComponent(jobId)}/counts${queryOf({ by: by.value, format: 'csv', ...question })}`}
            fileName={`${jobId}.counts-by-${by.value}.csv`}
            chunks={() => service.countsCsv(jobId, by.value, { question })}
            fault={fault}
          >
            CSV
          </FileLink>
        </li>
      </ul>
      {fault.value !== null && <Problem error={fault.value} />}
      {counts.value?.by === by.value ? (
        <Bars counts={counts.value} />
      ) : (
        fault.value === null && <Skeleton label="Counting the boxes" lines={3} />
      )}
    </div>
  );
}

function Bars({ counts: { groups, total, pending_images: pending } }: { counts: JobCounts }) {
  const most = Math.max(1, ...groups.map(({ detections }) => detections));
  const known = Object.entries(total.time_sources).map(
    ([source, images]) => `${grouped(images)} ${SOURCES[source as keyof typeof SOURCES]}`,
  );
  return (
    <>
      <svg
        viewBox={`0 0 ${Math.max(1, groups.length)} ${HEIGHT}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={`${plural(total.detections, 'box', 'boxes')} in ${plural(groups.length, 'group')}, at most ${grouped(most)}`}
      >
        {groups.map((group, index) => (
          <rect
            key={group.group}
            x={index + 0.08}
            y={HEIGHT - (HEIGHT * group.detections) / most}
            width="0.84"
            height={(HEIGHT * group.detections) / most}
          >
            <title>{textOf(group)}</title>
          </rect>
        ))}
      </svg>
      <p class="axis">
        {[...new Set([groups.at(0), groups.at(-1)])].map(
          (group) => group && <Foreign key={group.group} text={nameOf(group)} />,
        )}
      </p>
      <p class="fine">
        Times of the images: {known.join(', ')}.
        {pending > 0 && ` ${plural(pending, 'image')} have not ended and are not counted yet.`}
      </p>
    </>
  );
}

const SOURCES = {
  exif: 'from EXIF',
  name: 'from the file name',
  file: 'from the last change of the file',
  none: 'unknown',
};

function nameOf({ group }: JobCountGroup): string {
  return group?.replace('T', ' ') ?? 'no time';
}

function textOf(group: JobCountGroup): string {
  const classes = Object.entries(group.class_counts).map(([name, boxes]) => `${boxes} ${name}`);
  const images = plural(group.images, 'image');
  return `${nameOf(group)}: ${[images, ...classes].join(', ')}`;
}
