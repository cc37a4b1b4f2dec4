/** Facts that are written in several places of `deploy/` agree, and are those that the service takes. */
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { environmentName, loadConfig } from '../../src/settings/config.js';
import { settings } from '../../src/settings/settings.js';
import { OVERRUN_MS } from '../../src/base/releases.js';
import { PROJECT_ROOT } from '../support/service-process.js';

const FILES = [
  'Dockerfile',
  'ray-worker.Dockerfile',
  'compose.yaml',
  'one-machine/compose.yaml',
  'lattice-core.service',
  'README.md',
];
const IMAGES = ['Dockerfile', 'ray-worker.Dockerfile'];

const read = (file: string) => readFileSync(join(PROJECT_ROOT, file), 'utf8');
const deployed = (file: string) => read(join('deploy', file));

interface Service {
  command?: string;
  environment?: Record<string, string>;
  ports?: string[];
  networks?: string[];
  profiles?: string[];
  restart?: string;
  healthcheck?: { test: string[] };
  secrets?: string[];
  security_opt?: string[];
  cap_drop?: string[];
  build?: { context: string; dockerfile: string; args?: Record<string, string> };
  volumes?: (string | { source: string; target: string; read_only?: boolean })[];
  deploy?: { resources: { limits: Record<string, string>; reservations?: unknown } };
}
interface Compose {
  services: Record<string, Service>;
  networks: Record<string, { internal?: boolean } | null>;
  volumes: Record<string, null>;
  secrets: Record<string, { file: string }>;
}
const compose = parse(deployed('compose.yaml'), { merge: true }) as Compose;
const services = Object.entries(compose.services);
const service = compose.services.service!;
const rayNodes = services.filter(([, { profiles }]) => profiles !== undefined);

describe('versions', () => {
  const [, ray] = /^ray\[default\]==([\d.]+)$/m.exec(read('cluster/requirements.txt'))!;
  const [, python] = /^ARG PYTHON_VERSION=([\d.]+)$/m.exec(read('edge/Dockerfile'))!;
  const image = `rayproject/ray:${ray}-py${python!.replace('.', '')}`;

  test("the nodes' Ray and Python are those of the tests and of the edge node", () => {
    expect(deployed('ray-worker.Dockerfile')).toContain(`ARG RAY_IMAGE=${image}\n`);
  });

  test("the examples' Ray is of the same version", () => {
    expect(read('cluster/examples/requirements.txt')).toBe(`ray[data]==${ray}\n`);
  });

  test.each([...FILES.map((file) => `deploy/${file}`), 'docs/cluster.md', 'cluster/README.md'])(
    '%s names no other image of Ray',
    (file) => {
      for (const [found] of read(file).matchAll(/rayproject\/ray:[\w.-]+/g)) {
        expect([image, `${image}-gpu`]).toContain(found);
      }
    },
  );

  test('the Python package is of the version of the service: a new one replaces the workers', () => {
    const { version } = JSON.parse(read('package.json')) as { version: string };
    expect(read('cluster/lattice_ray/__init__.py')).toContain(`__version__ = "${version}"\n`);
  });

  test('both images have the same Node.js, one that package.json allows', () => {
    const versions = IMAGES.map((file) => /^ARG NODE_VERSION=(\d+)$/m.exec(deployed(file))?.[1]);
    expect(new Set(versions).size).toBe(1);
    expect(Number(versions[0])).toBeGreaterThanOrEqual(20);
  });
});

describe('settings', () => {
  const known = new Set(Object.keys(settings).map(environmentName));
  // Read by the build, not by the service.
  const ofTheBuild = new Set(['LATTICE_CUDA']);

  test.each([...FILES.map((file) => `deploy/${file}`), 'docs/cluster.md'])(
    '%s names real ones',
    (file) => {
      for (const [name] of read(file).matchAll(/LATTICE_[A-Z_]+[A-Z]/g)) {
        expect(known.has(name) || ofTheBuild.has(name), `${file}: ${name}`).toBe(true);
      }
      for (const name of ofTheBuild)
        expect(read('scripts/build-native.mjs')).toContain(`'${name}'`);
    },
  );

  test("the service's are accepted, and meet the nodes", () => {
    const config = loadConfig({}, service.environment);
    expect(config).toMatchObject({ cluster: 'ray', env: 'production' });
    const head = compose.services['ray-head']!.command!;
    expect(config.rayAddress).toBe(`ray://ray-head:${/client-server-port=(\d+)/.exec(head)?.[1]}`);
    expect(config.rayDashboard).toBe(`http://ray-head:${/dashboard-port=(\d+)/.exec(head)?.[1]}`);
    const [published] = service.ports!;
    expect(config.serviceUrl).toBe(`ws://service:${published!.split(':').at(-1)}`);
    for (const [name, node] of rayNodes) {
      const mounts = node.volumes!.flatMap((each) =>
        typeof each === 'string' ? [] : [each.target],
      );
      expect(mounts, name).toEqual(
        expect.arrayContaining([...config.imageRoots, config.modelsDir]),
      );
      expect(node.command, name).toContain('--address=ray-head:6379');
      expect(node.secrets).toContain(basename(config.workerTokenFile));
    }
  });
});

/** `CMD` and the words of a `HEALTHCHECK`; none where the image has none. */
function healthcheckOf(dockerfile: string): string[] {
  const [, words = '[]'] =
    /^HEALTHCHECK [^[]*CMD (\[.*\])$/m.exec(read(dockerfile).replace(/\\\n/g, '')) ?? [];
  const command = JSON.parse(words) as string[];
  return command.length === 0 ? [] : ['CMD', ...command];
}

describe('compose.yaml', () => {
  test('has two nodes for CPUs and two for GPUs', () => {
    const ofProfile = (profile: string) =>
      rayNodes.filter(([, { profiles }]) => profiles!.includes(profile)).map(([, node]) => node);
    expect(ofProfile('cpu')).toHaveLength(2);
    expect(ofProfile('gpu')).toHaveLength(2);
    for (const node of ofProfile('gpu')) {
      expect(node.deploy!.resources.reservations).toBeDefined();
      expect(node.command).toContain('--num-gpus=1');
    }
  });

  test("publishes the service's port alone, on this machine alone", () => {
    const published = services.flatMap(([, { ports = [] }]) => ports);
    expect(published).toEqual(['127.0.0.1:${PORT:-8000}:8000']);
    expect(compose.networks.cluster).toEqual({ internal: true });
    for (const [name, { networks }] of services) {
      expect(networks, name).toEqual(name === 'service' ? ['cluster', 'outside'] : ['cluster']);
    }
  });

  test.each(services)('%s is limited, watched and started again', (_name, each) => {
    expect(each).toMatchObject({
      restart: 'unless-stopped',
      security_opt: ['no-new-privileges:true'],
      cap_drop: ['ALL'],
      deploy: { resources: { limits: { cpus: expect.any(String), memory: expect.any(String) } } },
    });
    // The image of the service has its own.
    const [kind, ...command] = each.healthcheck?.test ?? healthcheckOf(each.build!.dockerfile);
    expect(kind).toBe('CMD');
    expect(command.length).toBeGreaterThan(0);
    // A text that YAML takes for a table reaches no shell.
    for (const word of command) expect(word).toEqual(expect.any(String));
    expect(
      existsSync(join(PROJECT_ROOT, 'deploy', each.build!.context, each.build!.dockerfile)),
    ).toBe(true);
    const declared = [...deployed(basename(each.build!.dockerfile)).matchAll(/^ARG (\w+)/gm)].map(
      ([, name]) => name,
    );
    expect(declared).toEqual(expect.arrayContaining(Object.keys(each.build!.args ?? {})));
    for (const mount of each.volumes ?? []) {
      if (typeof mount === 'string') expect(compose.volumes).toHaveProperty(mount.split(':')[0]!);
      else expect(mount, mount.target).toMatchObject({ read_only: true });
    }
    for (const secret of each.secrets ?? []) expect(compose.secrets).toHaveProperty(secret);
  });

  test('every variable of compose.yaml is explained', () => {
    for (const [, name] of deployed('compose.yaml').matchAll(/\$\{([A-Z_]+)/g)) {
      expect(deployed('README.md'), name).toContain(`\`${name}\``);
    }
  });
});

describe('one-machine/compose.yaml', () => {
  const folder = join(PROJECT_ROOT, 'deploy/one-machine');
  const own = parse(deployed('one-machine/compose.yaml'), { merge: true }) as Compose;
  const all = Object.entries(own.services);
  const yaml = (file: string): unknown => parse(deployed(join('one-machine', file)));

  test("the service's settings are accepted, and a start without keys is not meant", () => {
    const config = loadConfig({}, own.services.service!.environment);
    expect(config).toMatchObject({ env: 'production', cluster: 'local' });
    expect(config.apiKeysFile).toBe('/run/secrets/api-keys');
    expect(healthcheckOf('deploy/Dockerfile').join(' ')).toContain('/readyz');
  });

  test.each(all)(
    '%s is confined, has its files and publishes on this machine alone',
    (_name, each) => {
      expect(each).toMatchObject({
        restart: 'unless-stopped',
        security_opt: ['no-new-privileges:true'],
        cap_drop: ['ALL'],
      });
      for (const port of each.ports ?? []) expect(port).toMatch(/^127\.0\.0\.1:/);
      for (const secret of each.secrets ?? []) expect(own.secrets).toHaveProperty(secret);
      for (const mount of each.volumes ?? []) {
        if (typeof mount !== 'string') expect(mount).toMatchObject({ read_only: true });
        else if (mount.startsWith('.')) {
          const [file, , how] = mount.split(':');
          expect(existsSync(join(folder, file!)), file).toBe(true);
          expect(how).toBe('ro');
        } else expect(own.volumes).toHaveProperty(mount.split(':')[0]!);
      }
    },
  );

  test('Prometheus reads the service and the alerts, Grafana reads Prometheus and the dashboard', () => {
    expect(yaml('prometheus.yaml')).toMatchObject({
      rule_files: ['alerts.yaml'],
      scrape_configs: [
        {
          authorization: { credentials_file: '/run/secrets/metrics-key' },
          static_configs: [{ targets: ['service:8000'] }],
        },
      ],
    });
    const mounted = own.services.prometheus!.volumes!;
    expect(mounted).toContain('../alerts.yaml:/etc/prometheus/alerts.yaml:ro');
    expect(yaml('grafana/datasource.yaml')).toMatchObject({
      datasources: [{ type: 'prometheus', url: 'http://prometheus:9090', isDefault: true }],
    });
    const { providers } = yaml('grafana/dashboards.yaml') as {
      providers: { options: { path: string } }[];
    };
    const { path } = providers[0]!.options;
    expect(own.services.grafana!.volumes).toContain(`../grafana.json:${path}/lattice.json:ro`);
  });

  test('every variable is explained', () => {
    for (const [, name] of deployed('one-machine/compose.yaml').matchAll(/\$\{([A-Z_]+)/g)) {
      expect(deployed('README.md'), name).toContain(`\`${name}\``);
    }
  });
});

describe('lattice-core.service', () => {
  const unit = deployed('lattice-core.service');
  const lines = (key: string) =>
    [...unit.matchAll(new RegExp(`^${key}=(.*)$`, 'gm'))].map(([, value]) => value!);

  test('runs the command of the package in the folder of the guide', () => {
    const { bin } = JSON.parse(read('package.json')) as { bin: { lattice: string } };
    expect(lines('ExecStart')).toEqual([`node ${bin.lattice} serve`]);
    const [folder] = lines('WorkingDirectory');
    expect(deployed('README.md')).toContain(`cp ${folder}/deploy/lattice-core.service`);
    for (const file of lines('EnvironmentFile')) expect(deployed('README.md')).toContain(file);
  });

  test('leaves a stop its time', () => {
    const { drainSeconds } = loadConfig({}, {});
    expect(Number(lines('TimeoutStopSec')[0])).toBeGreaterThan(drainSeconds + OVERRUN_MS / 1_000);
  });

  test('systemd takes it', (context) => {
    const file = join(PROJECT_ROOT, 'deploy/lattice-core.service');
    const run = spawnSync('systemd-analyze', ['verify', file], { encoding: 'utf8' });
    if (run.error !== undefined) {
      console.warn('Left out: the check of the systemd unit: there is no systemd-analyze here.');
      context.skip();
    }
    expect(run.stderr).not.toMatch(/lattice-core\.service:\d+/);
  });
});
