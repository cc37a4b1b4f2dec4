import { describe, expect, test } from 'vitest';
import { JobTable, afterEvent } from '../../../src/ui/jobs/job-table.js';
import type { JobEvent, JobStatus, Problem } from '../../../src/client/records.js';

const job = (jobId = 'job_1', fields: Partial<JobStatus> = {}): JobStatus => ({
  job_id: jobId,
  status: 'pending',
  submitted_at: 1_000,
  started_at: null,
  completed_at: null,
  progress: 0,
  worker_id: '',
  job_type: 'detect_cars',
  title: 'a.jpg',
  model_name: 'yolov8n.pt',
  confidence_threshold: 0.5,
  priority: 0,
  image_count: 4,
  finished_images: 0,
  failed_images: 0,
  not_run_images: 0,
  total_count: 0,
  class_counts: {},
  name: null,
  tags: [],
  notes: null,
  keep: false,
  kept: false,
  expires_at: null,
  reused_images: 0,
  models: [],
  retry_of: null,
  request_id: null,
  upload: null,
  watch: null,
  error: null,
  ...fields,
});

const event = (name: JobEvent['event'], fields: Partial<JobEvent> = {}): JobEvent => {
  const status = {
    job_submitted: 'pending',
    job_started: 'running',
    job_progress: 'running',
    job_completed: 'completed',
    job_failed: 'failed',
    camera_finding_opened: 'completed',
    camera_finding_closed: 'completed',
    place_occupied: 'completed',
    place_left: 'completed',
    camera_event: 'completed',
  } as const;
  return {
    event: name,
    job_id: 'job_1',
    status: status[name],
    timestamp: 1_001,
    progress: 0,
    failed_images: 0,
    reused_images: 0,
    seq: 1,
    ...fields,
  };
};

const cancelled: Problem = {
  type: 'urn:lattice:error:cancelled',
  title: 'Cancelled',
  status: 409,
  code: 'cancelled',
  detail: 'By its owner.',
};

describe('a job', () => {
  test('goes on with its events', () => {
    const started = afterEvent(job(), event('job_started', { timestamp: 1_001 }));
    expect(started).toMatchObject({ status: 'running', started_at: 1_001, finished_images: 0 });
    const half = afterEvent(started, event('job_progress', { progress: 0.5, timestamp: 1_002 }));
    expect(half).toMatchObject({ started_at: 1_001, progress: 0.5, finished_images: 2 });
    const done = afterEvent(half, event('job_completed', { progress: 1, timestamp: 1_003 }));
    expect(done).toMatchObject({ status: 'completed', completed_at: 1_003, finished_images: 4 });
  });

  test('never goes back: events may come twice, or after a list that knew them', () => {
    const half = job('job_1', { status: 'running', progress: 0.5, finished_images: 2 });
    expect(afterEvent(half, event('job_submitted'))).toBe(half);
    expect(afterEvent(half, event('job_progress', { progress: 0.25 }))).toBe(half);
    const failed = afterEvent(half, event('job_failed', { progress: 0.5, error: cancelled }));
    expect(failed).toMatchObject({ status: 'failed', error: { code: 'cancelled' } });
    expect(afterEvent(failed, event('job_progress', { progress: 1 }))).toBe(failed);
    expect(afterEvent(failed, event('job_failed', { timestamp: 9_999, progress: 1 }))).toBe(failed);
  });
});

describe('the table', () => {
  test('keeps the order of the list and asks for one when a job is new', () => {
    const table = new JobTable();
    table.show([job('job_2'), job('job_1')]);
    expect(table.apply(event('job_started'))).toBe(false);
    expect(table.apply(event('job_submitted', { job_id: 'job_3' }))).toBe(true);
    expect(table.apply(event('job_completed', { job_id: 'older' }))).toBe(false);
    const states = table.rows.map(({ job_id, status }) => [job_id, status]);
    expect(states).toEqual([
      ['job_2', 'pending'],
      ['job_1', 'running'],
    ]);
  });

  test('a list that was under way does not undo what happened meanwhile', () => {
    const table = new JobTable();
    table.show([job()]);
    table.ask();
    table.apply(event('job_completed', { progress: 1 }));
    table.apply(event('job_submitted', { job_id: 'job_2' }));
    table.show([job('job_2'), job()]);
    expect(table.rows.map(({ status }) => status)).toEqual(['pending', 'completed']);
    table.show([job()]);
    expect(table.get('job_1')?.status).toBe('pending');
  });
});
