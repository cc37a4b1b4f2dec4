/** The alerts and the page of the metrics name what the service shows. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { ERRORS } from '../../src/api/errors.js';
import { oneCar } from '../support/scripted-detector.js';
import { everyMetric } from '../support/every-metric.js';
import { PROJECT_ROOT } from '../support/service-process.js';
import { GpuWorker, simulatedGpu } from '../support/simulated-gpus.js';

const read = (file: string) => readFileSync(join(PROJECT_ROOT, file), 'utf8');

interface Rule {
  alert: string;
  expr: string;
  labels: { severity: string };
  annotations: { summary: string };
}

const rules = (parse(read('deploy/alerts.yaml')) as { groups: { rules: Rule[] }[] }).groups.flatMap(
  (group) => group.rules,
);

/** Before anything has happened. */
let fresh: string;
let shown: string;
beforeAll(async () => {
  const all = await everyMetric([new GpuWorker('worker-1', 'node-1', [simulatedGpu(0)])]);
  fresh = await all.metrics.render();
  all.http.observeRequest({ method: 'GET', route: '/healthz', status: 200, seconds: 0.004 });
  all.cluster.detector.onImage('ok', oneCar);
  const job = { jobId: 'a', seq: 1, progress: 1, failedImages: 0, reusedImages: 0, keyId: null };
  all.tell({ ...job, event: 'job_started', status: 'running', timestamp: 1 });
  all.tell({ ...job, event: 'job_completed', status: 'completed', timestamp: 2 });
  all.onAttempt('retry');
  shown = await all.metrics.render();
  await all.close();
});

/** Labels that the series of a metric carry. */
const labelsOf = (metric: string) =>
  [...shown.matchAll(new RegExp(`^${metric}(?:\\{(.*)\\})? `, 'gm'))].flatMap(([, labels]) =>
    [...(labels ?? '').matchAll(/(\w+)="/g)].map(([, label]) => label),
  );

describe.each(rules.map((rule) => [rule.alert, rule] as const))('%s', (_name, rule) => {
  test('asks for metrics and labels that there are', () => {
    const selectors = [...rule.expr.matchAll(/(lattice_\w+)(?:\{([^}]*)\})?/g)];
    expect(selectors).not.toEqual([]);
    for (const [, metric, matchers] of selectors) {
      expect(shown, metric).toMatch(new RegExp(`^${metric}[{ ]`, 'm'));
      for (const [, label] of (matchers ?? '').matchAll(/(\w+)=/g)) {
        expect(labelsOf(metric!), metric).toContain(label);
      }
    }
  });

  test('says how bad it is, and whom to look at', () => {
    expect(['critical', 'warning']).toContain(rule.labels.severity);
    expect(rule.annotations.summary).toMatch(/\{\{ \$labels\.(instance|node) \}\}/);
  });
});

test('what is asked to increase is shown from the start: the first of a series is no increase', () => {
  const increases = rules.flatMap(({ expr }) => [
    ...expr.matchAll(/increase\((lattice_\w+)\{(\w+)=~?"([^"]*)"\}/g),
  ]);
  expect(increases.length).toBeGreaterThan(0);
  for (const [, metric, label, values] of increases) {
    for (const value of values!.split('|')) {
      expect(fresh).toContain(`${metric}{${label}="${value}"} 0`);
    }
  }
});

test('outcomes of images in alerts are error codes', () => {
  const outcomes = rules.flatMap(({ expr }) =>
    [...expr.matchAll(/lattice_images_total\{outcome=~"([^"]*)"/g)].flatMap(([, codes]) =>
      codes!.split('|'),
    ),
  );
  expect(outcomes.length).toBeGreaterThan(0);
  expect(Object.keys(ERRORS)).toEqual(expect.arrayContaining(outcomes));
});

test('each row with an alert in docs/metrics.md has a rule, and operate.md says what to do at each rule', () => {
  const rows = [
    ...read('docs/metrics.md').matchAll(/^\| `(lattice_\w+?)(?:_\.\.\.)?` .*\| +(.*?) *\|$/gm),
  ];
  const expressions = rules.map(({ expr }) => expr).join('\n');
  for (const [, metric, alert] of rows) if (alert !== '') expect(expressions).toContain(metric);
  const actions = [...read('docs/operate.md').matchAll(/^\| `(Lattice\w+)`/gm)];
  expect(actions.map(([, name]) => name)).toEqual(rules.map(({ alert }) => alert));
});

test('docs/metrics.md has every metric, and no other', () => {
  const rows = [...read('docs/metrics.md').matchAll(/^\| `(lattice_\w+?)(?:_\.\.\.)?`/gm)];
  const documented = new Set(rows.map(([, name]) => name));
  const names = [...shown.matchAll(/^# TYPE (lattice_\w+)/gm)].map(([, name]) => name!);
  expect(new Set(names.map((name) => name.replace(/^(lattice_gpu)_.*/, '$1')))).toEqual(documented);
});
