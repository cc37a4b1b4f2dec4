/** Every panel of the dashboard asks for what a running service shows. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { beforeAll, describe, expect, test } from 'vitest';
import { addClusterMetrics } from '../../src/clusters/cluster-metrics.js';
import { Metrics } from '../../src/metrics/metrics.js';
import { idleCluster } from '../support/every-metric.js';
import { detect, FEW_THREADS, reached, submit } from '../support/service-client.js';
import { PROJECT_ROOT, startService } from '../support/service-process.js';
import { GpuWorker, simulatedGpu } from '../support/simulated-gpus.js';

interface Panel {
  id: number;
  type: string;
  title: string;
  gridPos: { x: number; y: number; w: number; h: number };
  datasource?: unknown;
  targets?: { refId: string; datasource: unknown; expr: string; legendFormat: string }[];
}
interface Dashboard {
  uid: string;
  title: string;
  schemaVersion: number;
  templating: { list: { name: string; type: string; query: unknown; datasource?: unknown }[] };
  panels: Panel[];
}

const text = readFileSync(join(PROJECT_ROOT, 'deploy/grafana.json'), 'utf8');
const dashboard = JSON.parse(text) as Dashboard;
const panels = dashboard.panels.filter(({ type }) => type !== 'row');
const targets = panels.flatMap(({ title, targets: list = [] }) =>
  list.map((target) => [`${title}: ${target.legendFormat}`, target] as const),
);
/** Prometheus adds them to what it scrapes. */
const ADDED = ['instance', 'job'];
const DATASOURCE = { type: 'prometheus', uid: '${datasource}' };

let shown: string;

/** Metrics of a service that has answered, refused, run a job, and tried to send its webhook. */
async function scrapeService(): Promise<string> {
  await using service = await startService({ env: FEW_THREADS });
  await detect(service.url);
  await detect(service.url, { image_path: 'absent.png' });
  // No one listens on the discard port: the attempt fails at once and counts.
  const job = await submit(service.url, { callback_url: 'http://127.0.0.1:9/' });
  await reached(service.url, job, ['completed']);
  for (;;) {
    const answer = await fetch(`${service.url}/metrics`);
    expect(answer.status).toBe(200);
    const metrics = await answer.text();
    if (metrics.includes('lattice_webhook_attempts_total{outcome="retry"} 1')) return metrics;
    await sleep(50);
  }
}

/** A service without GPUs shows none of their figures. */
async function gpuFigures(): Promise<string> {
  const metrics = new Metrics();
  const worker = new GpuWorker('worker-1', 'node-1', [simulatedGpu(0)]);
  addClusterMetrics(metrics, '1.2.3', idleCluster([worker]));
  const lines = (await metrics.render()).split('\n');
  return lines.filter((line) => line.includes('lattice_gpu_')).join('\n');
}

beforeAll(async () => {
  shown = `${await scrapeService()}\n${await gpuFigures()}`;
});

/** Label -> values, over all series of the metric; null where there is no series. */
function labelsOf(metric: string): Map<string, Set<string>> | null {
  const series = [...shown.matchAll(new RegExp(`^${metric}(?:\\{(.*)\\})? `, 'gm'))];
  if (series.length === 0) return null;
  const labels = new Map<string, Set<string>>();
  for (const [, all = ''] of series) {
    for (const [, label, value] of all.matchAll(/(\w+)="([^"]*)"/g)) {
      labels.set(label!, (labels.get(label!) ?? new Set()).add(value!));
    }
  }
  return labels;
}

const names = (list: string) => list.split(',').map((name) => name.trim());

describe.each(targets)('%s', (_name, { expr, legendFormat }) => {
  const selectors = [...expr.matchAll(/((?:lattice|process|nodejs)_\w+)\{([^}]*)\}/g)];
  const grouped = [...expr.matchAll(/\bby \(([^)]*)\)/g)].map(([, list]) => names(list!));

  test('asks for series that there are', () => {
    expect(selectors).not.toEqual([]);
    // Nothing is asked for without the choice of services.
    expect(expr.match(/(?:lattice|process|nodejs)_\w+/g)).toHaveLength(selectors.length);
    for (const [, metric, matchers] of selectors) {
      const labels = labelsOf(metric!);
      expect(labels, metric).not.toBeNull();
      expect(matchers).toContain('instance=~"$instance"');
      for (const [, label, operator, value] of matchers!.matchAll(/(\w+)(=~|!=|=)"([^"]*)"/g)) {
        if (ADDED.includes(label!)) continue;
        const values = [...(labels!.get(label!) ?? [])];
        expect(values, `${metric} ${label}`).not.toEqual([]);
        if (operator === '=') expect(values).toContain(value);
        const pattern = new RegExp(`^(?:${value})$`);
        if (operator === '=~') expect(values.some((each) => pattern.test(each))).toBe(true);
      }
      for (const label of grouped.flat()) {
        expect([...labels!.keys(), ...ADDED], metric).toContain(label);
      }
    }
  });

  test('names its lines by labels that they have', () => {
    const isGrouped = /\b(?:sum|min|max|avg) /.test(expr) || /\b(?:sum|min|max)\(/.test(expr);
    for (const [, label] of legendFormat.matchAll(/\{\{(\w+)\}\}/g)) {
      const kept = isGrouped ? grouped.flat() : [...labelsOf(selectors[0]![1]!)!.keys(), ...ADDED];
      expect(kept).toContain(label);
    }
  });
});

test('a Prometheus is chosen at the import, then services of it', () => {
  expect(dashboard).toMatchObject({ uid: 'lattice-core', title: 'lattice-core' });
  expect(dashboard.schemaVersion).toBeGreaterThanOrEqual(36);
  expect(dashboard.templating.list).toMatchObject([
    { name: 'datasource', type: 'datasource', query: 'prometheus' },
    { name: 'instance', type: 'query', datasource: DATASOURCE },
  ]);
  const query = JSON.stringify(dashboard.templating.list[1]!.query);
  const metric = /label_values\((\w+), instance\)/.exec(query)?.[1];
  expect(labelsOf(metric ?? 'none')).not.toBeNull();
  for (const panel of panels) {
    expect(panel.datasource, panel.title).toEqual(DATASOURCE);
    for (const target of panel.targets ?? []) expect(target.datasource).toEqual(DATASOURCE);
  }
  const used = new Set([...text.matchAll(/\$\{?(\w+)/g)].map(([, name]) => name));
  expect(used).toEqual(new Set(['datasource', 'instance', '__rate_interval', '__all']));
});

test('panels have a name, an id and a place of their own', () => {
  const all = dashboard.panels;
  expect(new Set(all.map(({ id }) => id)).size).toBe(all.length);
  expect(new Set(panels.map(({ title }) => title)).size).toBe(panels.length);
  const cells = all.flatMap(({ gridPos: { x, y, w, h } }) => {
    expect(x + w).toBeLessThanOrEqual(24);
    return Array.from({ length: w * h }, (_, at) => `${x + (at % w)},${y + Math.floor(at / w)}`);
  });
  expect(new Set(cells).size).toBe(cells.length);
});
