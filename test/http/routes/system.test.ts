import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { LatticeError } from '../../../src/api/errors.js';
import { compose, get } from '../../support/composed-app.js';
import { HeldJobs } from '../../support/held-jobs.js';

describe('probes', () => {
  test('healthz says whether the cluster is connected', async () => {
    const app = compose();
    expect((await get(app, '/healthz')).body).toEqual({ status: 'ok', cluster_connected: true });
    app.deps.clusterStatus.connected = () => false;
    expect((await get(app, '/healthz')).body).toEqual({ status: 'ok', cluster_connected: false });
  });

  test('readyz fails while the detector is not trusted or the service stops; livez does not', async () => {
    const app = compose();
    expect(await get(app, '/readyz')).toMatchObject({ status: 200, body: { status: 'ready' } });
    app.detector.fault = new LatticeError('detection_failed', 'The self-check saw nothing.');
    expect(await get(app, '/readyz')).toMatchObject({
      status: 503,
      body: { code: 'model_not_ready', detail: expect.stringContaining('self-check') },
    });
    app.detector.fault = null;
    app.state.draining = true;
    expect(await get(app, '/readyz')).toMatchObject({
      status: 503,
      body: { code: 'shutting_down' },
    });
    expect(await get(app, '/livez')).toMatchObject({ status: 200, body: { status: 'ok' } });
  });

  test('readyz fails while jobs cannot be stored', async () => {
    const fault = new LatticeError('storage_unavailable', 'The disk is full.');
    const app = compose({}, { jobsHealth: () => Promise.resolve(fault) });
    expect(await get(app, '/readyz')).toMatchObject({
      status: 503,
      body: { code: 'storage_unavailable', detail: 'The disk is full.' },
    });
  });

  test('the metrics of the registry are served', async () => {
    const answer = await get(compose(), '/metrics');
    expect(answer).toMatchObject({ status: 200, body: 'up 1\n' });
    expect(answer.headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8');
  });
});

describe('cluster status', () => {
  test('has the fields of the interface', async () => {
    await using jobs = await HeldJobs.open();
    const { status, body } = await get(compose({}, {}, jobs), '/v1/cluster/status');
    expect(status).toBe(200);
    expect(body).toMatchObject({
      cluster_version: '1.2.3',
      cluster_alive: true,
      nodes: [{ node_id: expect.any(String), alive: true, resources: { GPU: 0 } }],
      total_cpus: expect.any(Number),
      total_gpus: 0,
      available_cpus: expect.any(Number),
      available_gpus: 0,
      pending_jobs: 0,
      running_jobs: 0,
      unanswered: [],
      engine: { device: 'cpu', precision: 'f32', reason: 'scripted' },
    });
  });

  test.each([
    ['3.11.7', '3.11.7'],
    [null, null],
  ])('a cluster on Python %s says so in a header', async (pythonVersion, header) => {
    const app = compose();
    const local = await app.deps.clusterStatus.status();
    app.deps.clusterStatus.status = () => Promise.resolve({ ...local, pythonVersion });
    const answer = await get(app, '/v1/cluster/status');
    expect(answer.headers.get('x-lattice-cluster-python')).toBe(header);
    expect(answer.body).not.toHaveProperty('python_version');
  });

  test.each([[new LatticeError('cluster_unavailable', 'No answer.')], [new Error('ECONNREFUSED')]])(
    '%s is 503',
    async (failure) => {
      const app = compose();
      app.deps.clusterStatus.status = () => Promise.reject(failure);
      const answer = await get(app, '/v1/cluster/status');
      expect(answer).toMatchObject({ status: 503, body: { code: 'cluster_unavailable' } });
      expect(answer.headers.get('retry-after')).toBe('1');
    },
  );
});

test('models are listed in the field names of the interface', async () => {
  const { body } = await get(compose(), '/v1/models');
  expect(body.models).toMatchObject([
    {
      name: 'yolov8n.pt',
      state: 'ready',
      is_default: true,
      device: 'cpu',
      precision: 'f32',
      agreement: 0.997,
    },
    { name: 'broken.pt', state: 'refused', reason: 'The file is damaged.', agreement: null },
  ]);
});

describe('documentation page', () => {
  test('is complete without a network', async () => {
    const app = compose();
    const home = await get(app, '/');
    expect([home.status, home.headers.get('location')]).toEqual([302, '/docs']);
    expect(home.headers.get('vary')).toContain('accept');
    const page = await get(app, '/docs');
    expect(page.status).toBe(200);
    const policy = page.headers.get('content-security-policy');
    expect(policy).toMatch(/^default-src 'self';/);
    expect(policy).not.toMatch(/unsafe|http|\*/);
    const html = page.body as string;
    expect(html).not.toMatch(/https?:|src="\/\/|<script>|<style| style=| on\w+=/);
    expect(html).toContain('<a href="/ui">');
    const links = [...html.matchAll(/(?:src|<link [^>]*href)="([^"]+)"/g)].map(
      (match) => match[1]!,
    );
    expect(links.length).toBeGreaterThanOrEqual(4);
    for (const link of links) {
      const response = await app.app.request(link);
      expect(response.status, link).toBe(200);
      expect(response.headers.get('content-type')).toMatch(/css|javascript|png/);
      expect((await response.arrayBuffer()).byteLength).toBeGreaterThan(100);
    }
    const start = (await get(app, '/docs/start.js')).body as string;
    expect(start).not.toMatch(/https?:/);
    expect(start).toContain("url: '/openapi.json'");
  });

  test('is not where browsers are led: that is the live page', async () => {
    const accept = 'text/html,application/xhtml+xml,*/*;q=0.8';
    const home = await get(compose(), '/', { accept });
    expect([home.status, home.headers.get('location')]).toEqual([302, '/ui']);
  });

  test('the style sheet loads nothing from other hosts', async () => {
    const { body } = await get(compose(), '/docs/swagger-ui.css');
    const fetched = [...(body as string).matchAll(/(?:url\(|@import )["']?([^)"';]{0,40})/g)];
    expect(fetched.length).toBeGreaterThan(0);
    for (const [, target] of fetched) expect(target).toMatch(/^(data:|#)/);
  });

  test('/llms.txt says what there is, and each page that it links to is served', async () => {
    const app = compose();
    const map = await app.app.request('/llms.txt');
    expect([map.status, map.headers.get('content-type')]).toEqual([
      200,
      'text/plain; charset=utf-8',
    ]);
    const links = [...(await map.text()).matchAll(/\]\(([^)]+)\)/g)].map(([, link]) => link!);
    expect(links).toContain('docs/counts-from-photos.md');
    for (const link of links) {
      const response = await app.app.request(new URL(link, 'http://localhost/llms.txt').pathname);
      expect(response.status, link).toBe(200);
      expect(response.headers.get('content-type')).toBe('text/markdown; charset=utf-8');
      expect(await response.text(), link).toMatch(/^# /);
    }
  });

  test.each([
    ...[['swagger-ui.js.map'], ['..%2fpackage.json'], ['%2e%2e%2f'], ['index.html']],
    ...[['no-such-page.md'], ['..%2fREADME.md']],
  ])('file %s is not served', async (file) => {
    expect(await get(compose(), `/docs/${file}`)).toMatchObject({ status: 404 });
  });

  test('the bundle is the installed one', async () => {
    const installed = readFileSync(
      new URL('../../../node_modules/swagger-ui-dist/swagger-ui-bundle.js', import.meta.url),
    );
    const response = await compose().app.request('/docs/swagger-ui-bundle.js');
    expect(Buffer.from(await response.arrayBuffer()).equals(installed)).toBe(true);
  });
});
