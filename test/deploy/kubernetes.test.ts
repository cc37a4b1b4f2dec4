/** The manifests of `deploy/kubernetes` name what the service has: its settings, probes, port and time to stop. */
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { OVERRUN_MS } from '../../src/base/releases.js';
import { loadConfig, unknownSettings } from '../../src/settings/config.js';
import { PROJECT_ROOT } from '../support/service-process.js';

const FOLDER = join(PROJECT_ROOT, 'deploy/kubernetes');
const read = (file: string) => readFileSync(join(PROJECT_ROOT, file), 'utf8');
const manifest = (file: string): unknown => parse(readFileSync(join(FOLDER, file), 'utf8'));

interface Probe {
  httpGet: { path: string; port: string };
  periodSeconds: number;
  failureThreshold?: number;
}
interface Container {
  envFrom: { configMapRef: { name: string } }[];
  ports: { name: string; containerPort: number }[];
  startupProbe: Probe;
  readinessProbe: Probe;
  livenessProbe: Probe;
  securityContext: object;
  resources: { requests: object; limits: object };
  volumeMounts: { name: string; mountPath: string; readOnly?: boolean }[];
}
interface Pod {
  automountServiceAccountToken: boolean;
  enableServiceLinks: boolean;
  terminationGracePeriodSeconds: number;
  securityContext: { runAsUser: number };
  containers: Container[];
  volumes: { name: string; secret?: { defaultMode: number } }[];
}
interface StatefulSet {
  spec: {
    replicas: number;
    selector: { matchLabels: object };
    template: { metadata: { labels: object }; spec: Pod };
    volumeClaimTemplates: { metadata: { name: string }; spec: { accessModes: string[] } }[];
  };
}
interface Service {
  metadata: { labels: object };
  spec: { selector: object; ports: { name: string; port: number; targetPort: string }[] };
}

const set = (manifest('statefulset.yaml') as StatefulSet).spec;
const pod = set.template.spec;
const container = pod.containers[0]!;
const settings = manifest('settings.yaml') as {
  metadata: { name: string };
  data: Record<string, string>;
};
const service = manifest('service.yaml') as Service;

test('kustomize takes every manifest but the one of another operator', () => {
  const { resources } = manifest('kustomization.yaml') as { resources: string[] };
  const others = ['kustomization.yaml', 'service-monitor.yaml'];
  expect([...resources, ...others].sort()).toEqual(readdirSync(FOLDER).sort());
});

test('the settings are accepted, and every folder of them is a volume, written to only where it must be', () => {
  expect(container.envFrom).toEqual([{ configMapRef: { name: settings.metadata.name } }]);
  expect(unknownSettings(settings.data)).toEqual([]);
  const config = loadConfig({}, settings.data);
  expect(config.env).toBe('production');
  const mountOf = (folder: string) =>
    container.volumeMounts.find(({ mountPath }) => `${folder}/`.startsWith(`${mountPath}/`));
  for (const root of config.imageRoots) expect(mountOf(root)).toMatchObject({ readOnly: true });
  expect(mountOf(dirname(config.apiKeysFile))).toMatchObject({ readOnly: true });
  const data = mountOf(config.dataDir)!;
  expect(data.readOnly).toBeUndefined();
  // The root of a volume is not of mode 0700; a folder that the service makes is.
  expect(config.dataDir).not.toBe(data.mountPath);
  const volumes = [
    ...pod.volumes.map(({ name }) => name),
    ...set.volumeClaimTemplates.map(({ metadata }) => metadata.name),
  ];
  expect(volumes.sort()).toEqual(container.volumeMounts.map(({ name }) => name).sort());
});

test('no variable of Kubernetes is taken for a setting', () => {
  // The Service named lattice would set LATTICE_PORT.
  expect(pod.enableServiceLinks).toBe(false);
});

test('probes and ports are those of the service', () => {
  const [port] = container.ports;
  expect(port!.containerPort).toBe(loadConfig({}, {}).port);
  expect(read('deploy/Dockerfile')).toContain(`EXPOSE ${port!.containerPort}\n`);
  const { startupProbe, readinessProbe, livenessProbe } = container;
  const routes = read('docs/api.md');
  for (const { httpGet } of [startupProbe, readinessProbe, livenessProbe]) {
    expect(httpGet.port).toBe(port!.name);
    expect(routes).toContain(`\`${httpGet.path}\``);
  }
  expect(readinessProbe.httpGet.path).toBe('/readyz');
  // A restart mends no missing worker and no full disk.
  expect(livenessProbe.httpGet.path).toBe('/livez');
  const [, startPeriod] = /--start-period=(\d+)s/.exec(read('deploy/Dockerfile'))!;
  expect(startupProbe.periodSeconds * startupProbe.failureThreshold!).toBe(Number(startPeriod));
  expect(service.spec.ports).toEqual([
    { name: port!.name, port: port!.containerPort, targetPort: port!.name },
  ]);
});

test('a stop has its time, and two pods never have the same data', () => {
  const { drainSeconds } = loadConfig({}, settings.data);
  expect(pod.terminationGracePeriodSeconds).toBeGreaterThan(drainSeconds + OVERRUN_MS / 1_000);
  expect(set.replicas).toBe(1);
  expect(set.volumeClaimTemplates[0]!.spec.accessModes).toEqual(['ReadWriteOnce']);
});

test('the pod is confined', () => {
  expect(read('deploy/Dockerfile')).toContain(`\nUSER ${pod.securityContext.runAsUser}\n`);
  expect(pod).toMatchObject({
    automountServiceAccountToken: false,
    securityContext: { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } },
  });
  expect(container.securityContext).toEqual({
    allowPrivilegeEscalation: false,
    readOnlyRootFilesystem: true,
    capabilities: { drop: ['ALL'] },
  });
  expect(Object.keys(container.resources.limits)).toEqual(['cpu', 'memory']);
  expect(pod.volumes.find(({ secret }) => secret !== undefined)!.secret!.defaultMode).toBe(0o440);
});

test('Service, pod and monitor are of the same labels and port', () => {
  const { labels } = set.template.metadata;
  expect(set.selector.matchLabels).toEqual(labels);
  expect(service.spec.selector).toEqual(labels);
  expect(service.metadata.labels).toEqual(labels);
  expect(manifest('service-monitor.yaml')).toMatchObject({
    spec: {
      selector: { matchLabels: labels },
      endpoints: [{ port: service.spec.ports[0]!.name, path: '/metrics' }],
    },
  });
});
