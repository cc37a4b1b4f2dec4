/** Jobs of a Ray cluster: packages for them, submission, how they end. */
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { DashboardError, type RayDashboard } from './ray-dashboard.js';
import type { WorkerPackage } from './worker-package.js';

const CALL_DEADLINE_MS = 15_000;
const POLL_MS = 500;

export interface RayJobRequest {
  /** Unique on the cluster for all time. */
  submissionId: string;
  /** A command line for a shell on the head. */
  entrypoint: string;
  /** Python packages that were uploaded, by name. */
  packages: string[];
}

export interface RayJobEnd {
  status: 'SUCCEEDED' | 'FAILED' | 'STOPPED';
  message: string;
}

const jobSchema = z.object({ status: z.string(), message: z.string().nullish() });
const logsSchema = z.object({ logs: z.string().nullish() });

/** Every call rejects with a `DashboardError`. */
export class RayJobs {
  readonly #dashboard: RayDashboard;

  constructor(dashboard: RayDashboard) {
    this.#dashboard = dashboard;
  }

  /** Asking first also keeps the cluster from dropping the package before a job uses it. */
  async upload({ name, bytes }: WorkerPackage): Promise<void> {
    const path = `/api/packages/gcs/${name}`;
    try {
      await this.#dashboard.call({ method: 'GET', path, deadlineMs: CALL_DEADLINE_MS });
    } catch (error) {
      if (!(error instanceof DashboardError) || error.status !== 404) throw error;
      const body = { type: 'application/octet-stream', bytes };
      await this.#dashboard.call({ method: 'PUT', path, body, deadlineMs: CALL_DEADLINE_MS });
    }
  }

  async submit({ submissionId, entrypoint, packages }: RayJobRequest): Promise<void> {
    const request = {
      submission_id: submissionId,
      entrypoint,
      runtime_env: { py_modules: packages.map((name) => `gcs://${name}`) },
    };
    const bytes = Buffer.from(JSON.stringify(request));
    await this.#dashboard.call({
      method: 'POST',
      path: '/api/jobs/',
      body: { type: 'application/json', bytes },
      deadlineMs: CALL_DEADLINE_MS,
    });
  }

  /** Null when the job has not ended within `deadlineMs`. A slow answer is waited for, a refused call is not. */
  async follow(submissionId: string, deadlineMs: number): Promise<RayJobEnd | null> {
    const end = performance.now() + deadlineMs;
    while (performance.now() < end) {
      const ended = await this.#ended(submissionId, end - performance.now());
      if (ended !== null) return ended;
      await sleep(POLL_MS);
    }
    return null;
  }

  /** The last `count` lines that the job wrote. */
  async lastLines(submissionId: string, count: number): Promise<string> {
    const text = await this.#get(`/api/jobs/${submissionId}/logs`, CALL_DEADLINE_MS);
    const { logs } = parse(logsSchema, text);
    return (logs ?? '').trimEnd().split('\n').slice(-count).join('\n');
  }

  async stop(submissionId: string): Promise<void> {
    const path = `/api/jobs/${submissionId}/stop`;
    await this.#dashboard.call({ method: 'POST', path, deadlineMs: CALL_DEADLINE_MS });
  }

  async #ended(submissionId: string, leftMs: number): Promise<RayJobEnd | null> {
    try {
      const deadlineMs = Math.ceil(Math.min(leftMs, CALL_DEADLINE_MS));
      const text = await this.#get(`/api/jobs/${submissionId}`, deadlineMs);
      const { status, message } = parse(jobSchema, text);
      return isEnd(status) ? { status, message: message ?? '' } : null;
    } catch (error) {
      if (error instanceof DashboardError && error.timedOut) return null;
      throw error;
    }
  }

  #get(path: string, deadlineMs: number): Promise<string> {
    return this.#dashboard.call({ method: 'GET', path, deadlineMs });
  }
}

function isEnd(status: string): status is RayJobEnd['status'] {
  return status === 'SUCCEEDED' || status === 'FAILED' || status === 'STOPPED';
}

function parse<T>(schema: z.ZodType<T>, text: string): T {
  try {
    return schema.parse(JSON.parse(text));
  } catch {
    throw new DashboardError('it answered with something else than a Ray dashboard does', null);
  }
}
