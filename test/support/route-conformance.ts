/** Every route of the interface document over real HTTP: statuses, exact field names and types, right boxes. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  call,
  DEMO,
  detect,
  expectVehicles,
  post,
  reached,
  resultOf,
  submit,
  writeEnlarged,
} from './service-client.js';
import type { ServiceProcess } from './service-process.js';
import { ALL_COUNTS, answered, imageFields, number, statusRecord, text } from './wire-shapes.js';

export interface ServiceUnderTest {
  /** A service whose images may lie in `imageRoots`, and that is ready. */
  open: (imageRoots: string) => Promise<ServiceProcess>;
  nodes: number;
  workers: number;
  workerId: unknown;
}

/** The same for every cluster. */
export function routeConformance({ open, nodes, workers, workerId }: ServiceUnderTest): void {
  let folder: string;
  let service: ServiceProcess;

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'lattice-routes-'));
    writeFileSync(join(folder, 'broken.png'), 'not a picture');
    await writeEnlarged(join(folder, 'double.png'), 2);
    service = await open(`${DEMO}:${folder}`);
  });

  afterAll(async () => {
    await service[Symbol.asyncDispose]();
    rmSync(folder, { recursive: true, force: true });
  });

  test('healthz', async () => {
    const { status, body } = await call(service.url, '/healthz');
    expect({ status, body }).toEqual({
      status: 200,
      body: { status: 'ok', cluster_connected: true },
    });
  });

  test('cluster status', async () => {
    const { status, body } = await call(service.url, '/v1/cluster/status');
    expect(status).toBe(200);
    expect(body).toEqual({
      cluster_version: text,
      cluster_alive: true,
      nodes: Array.from({ length: nodes }, () => ({
        node_id: text,
        alive: true,
        resources: expect.objectContaining({ CPU: number, GPU: number }),
      })),
      total_cpus: number,
      total_gpus: number,
      available_cpus: number,
      available_gpus: number,
      pending_jobs: 0,
      running_jobs: 0,
      unanswered: [],
      images: { waiting: number, in_hand: number, done: number },
      service: { state: text, reasons: expect.any(Array) as unknown[], cpu_wait_ratio: number },
      engine: {
        device: text,
        precision: text,
        reason: text,
        queued_sync: number,
        queued_async: number,
        held_bytes: number,
        hanging_folders: 0,
        in_flight: number,
        images_per_second: number,
        gpus: [],
      },
      workers: Array.from({ length: workers }, () => ({
        worker_id: workerId,
        node_id: text,
        state: 'ready',
        reason: null,
        device: text,
        precision: text,
        in_hand: number,
        completed: number,
        models: expect.any(Array) as unknown[],
        model_faults: [],
      })),
    });
  });

  describe('synchronous detection', () => {
    test('finds the vehicles of the picture', async () => {
      const { status, body } = await detect(service.url);
      expect(status).toBe(200);
      expect(body).toEqual({
        status: 'success',
        image_path: 'shapes.png',
        ...imageFields(6, 3, ALL_COUNTS),
        confidence_threshold: 0.5,
        model: text,
        worker_id: workerId,
      });
      expectVehicles(body.detections);
    });

    test('keeps the vehicle types and the confidence asked for', async () => {
      const some = await detect(service.url, { vehicle_types: ['Bus', 'truck'] });
      expectVehicles(some.body.detections, { classes: ['bus', 'truck'] });
      const none = await detect(service.url, { confidence_threshold: 1, model_name: 'yolov8n.pt' });
      expect(none.body).toMatchObject({ status: 'success', detections: [], total_count: 0 });
    });

    test.each([
      ['broken.png', 'unsupported_image_format'],
      ['absent.png', 'image_not_found'],
    ])('answers 422 for %s', async (path, code) => {
      const { status, body } = await detect(service.url, { image_path: path });
      expect({ status, body }).toEqual(answered(422, code));
    });

    test('answers 422 for a model that is not there, naming what is', async () => {
      const { status, body } = await detect(service.url, { model_name: 'nothing.pt' });
      expect({ status, body }).toEqual(answered(422, 'unknown_model'));
      expect(body.detail).toContain('yolov8n.pt');
    });
  });

  describe('a job', () => {
    test('is accepted with 202, its id, status and a message', async () => {
      const { status, headers, body } = await post(service.url, '/v1/jobs/submit', {
        job_type: 'detect_cars',
        image_paths: ['shapes.png'],
      });
      expect(status).toBe(202);
      expect(body).toEqual({
        job_id: text,
        status: expect.stringMatching(/^(pending|running)$/),
        message: text,
      });
      expect(headers.get('location')).toBe(`/v1/jobs/${body.job_id}/status`);
      await reached(service.url, body.job_id, ['completed']);
    });

    test('goes from pending over running to completed, its result 409 until then', async () => {
      const { url } = service;
      // More than is read ahead, so that the job behind it has to wait, however many work on it.
      const images = 160 * workers;
      const front = await submit(url, { image_paths: Array(images).fill('double.png') });
      const behind = await submit(url, {});
      const pending = await reached(url, behind, ['pending']);
      expect(pending).toEqual(
        statusRecord(behind, {
          status: 'pending',
          started_at: null,
          completed_at: null,
          progress: 0,
          worker_id: '',
          image_count: 1,
          finished_images: 0,
        }),
      );
      const running = await reached(url, front, ['running']);
      expect(running).toEqual(
        statusRecord(front, {
          status: 'running',
          started_at: number,
          completed_at: null,
          progress: number,
          // Several workers may run it: none has until the first image is there.
          worker_id: workers === 1 ? workerId : text,
          image_count: images,
          finished_images: number,
        }),
      );
      for (const id of [front, behind]) {
        const { status, headers, body } = await call(url, `/v1/jobs/${id}/result`);
        expect({ status, body }).toEqual(answered(409, 'job_not_finished'));
        expect(Number(headers.get('retry-after'))).toBeGreaterThanOrEqual(1);
      }
      const result = await resultOf(url, front);
      expect(result.result.images).toHaveLength(images);
      for (const image of result.result.images) expectVehicles(image.detections, { scale: 2 });
      const completed = await reached(url, behind, ['completed']);
      expect(completed).toEqual(
        statusRecord(behind, {
          status: 'completed',
          started_at: number,
          completed_at: number,
          progress: 1,
          worker_id: workerId,
          image_count: 1,
          finished_images: 1,
        }),
      );
      expect(completed.submitted_at).toBeLessThanOrEqual(completed.started_at);
      expect(completed.started_at).toBeLessThanOrEqual(completed.completed_at);
      expect(Math.abs(completed.completed_at - Date.now() / 1000)).toBeLessThan(60);
    });

    test('of unchanged files takes over the results of an earlier one', async () => {
      const image_paths = ['shapes.png', 'shapes.png'];
      const first = await submit(service.url, { image_paths });
      await reached(service.url, first, ['completed']);
      const second = await submit(service.url, { image_paths, reuse: 'unchanged' });
      const { reused_images, result } = await resultOf(service.url, second);
      expect(reused_images).toBe(2);
      for (const image of result.images) {
        expectVehicles(image.detections);
        expect(image).toMatchObject({ reused_from: { job_id: text, index: number } });
      }
    });

    test.each(['status', 'result'])('that never was has no %s', async (what) => {
      const { status, body } = await call(service.url, `/v1/jobs/job_unknown/${what}`);
      expect({ status, body }).toEqual(answered(404, 'job_not_found'));
    });
  });
}
