/** What the page reads of the service's answers; `test/ui/wire.test.ts` holds them against the service's own shapes. */

export type JobState = 'pending' | 'running' | 'completed' | 'failed';

export interface Problem {
  title: string;
  status: number;
  code: string;
  detail: string;
  request_id?: string | undefined;
  errors?: { detail: string; pointer?: string | undefined }[] | undefined;
}

export interface Job {
  job_id: string;
  status: JobState;
  submitted_at: number;
  started_at: number | null;
  completed_at: number | null;
  progress: number;
  worker_id: string;
  job_type: string;
  priority: number;
  image_count: number;
  finished_images: number;
  error: Problem | null;
  webhooks?: Webhook[] | undefined;
}

export interface Webhook {
  state: string;
  attempts: number;
  last_status: number | null;
  last_error: string | null;
}

export interface JobList {
  jobs: Job[];
  next_cursor: string | null;
}

export interface JobAccepted {
  job_id: string;
  message: string;
}

export interface Detection {
  box: [number, number, number, number];
  confidence: number;
  class: string;
}

/** A processed image, of a job or of a detection at once. */
export interface ImageResult {
  image_path: string;
  detections: Detection[];
  total_count: number;
  class_counts: Record<string, number>;
  processing_time_ms: number;
  image: { width: number; height: number };
  timings_ms: Record<string, number>;
  truncated: boolean;
  annotated_url?: string | undefined;
}

export interface DetectAnswer extends ImageResult {
  model: string;
  worker_id: string;
}

export interface FailedImage {
  image_path: string;
  status: 'error';
  error: Problem;
}

export interface ManyImages {
  images: (ImageResult | FailedImage)[];
  total_count: number;
  class_counts: Record<string, number>;
  succeeded: number;
  failed: number;
}

export interface JobResult {
  result: ImageResult | ManyImages | null;
  error: Problem | null;
  metadata: Record<string, unknown> | null;
}

export interface Model {
  name: string;
  state: string;
  reason: string | null;
  classes: string[];
  device: string | null;
  precision: string | null;
  input: { width: number; height: number } | null;
  memory_bytes: number | null;
  licence: string | null;
  is_default: boolean;
}

export interface Gpu {
  node_id: string;
  index: number;
  name: string;
  state: string;
  memory_total_bytes: number | null;
  memory_used_bytes: number | null;
  utilisation_percent: number | null;
  temperature_celsius: number | null;
  power_watts: number | null;
  slowed_by: string[];
  reason: string | null;
}

export interface ClusterStatus {
  cluster_version: string;
  cluster_alive: boolean;
  nodes: { node_id: string; alive: boolean; resources: Record<string, number> }[];
  total_cpus: number;
  total_gpus: number;
  available_cpus: number;
  available_gpus: number;
  pending_jobs: number;
  running_jobs: number;
  engine: {
    device: string;
    precision: string;
    reason: string;
    queued_sync: number;
    queued_async: number;
    held_bytes: number;
    hanging_folders: number;
    in_flight: number;
    images_per_second: number;
    gpus: Gpu[];
  };
  workers: {
    worker_id: string;
    node_id: string;
    state: string;
    device: string;
    precision: string;
    in_hand: number;
    completed: number;
  }[];
}

export type JobEventName =
  'job_submitted' | 'job_started' | 'job_progress' | 'job_completed' | 'job_failed';

export interface JobEvent {
  event: JobEventName;
  job_id: string;
  status: JobState;
  timestamp: number;
  progress: number;
  seq?: number;
  error?: Problem;
}
