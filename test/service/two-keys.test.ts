/**
 * Two API keys at one service: what is one's own is neither seen, changed nor ended by the other, and who takes all
 * that it may have does not end the service of the other.
 */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { StreamConnection } from '../stream/stream-connection.js';
import { eventual, eventually } from '../support/eventually.js';
import {
  call,
  FEW_THREADS,
  PICTURE,
  writeEnlarged,
  type Answer,
} from '../support/service-client.js';
import { startService, type ServiceProcess } from '../support/service-process.js';

const KEYS = {
  alice: 'alice-0123456789abcdef',
  bob: 'bob-0123456789abcdefgh',
  carol: 'carol-0123456789abcdef',
};
type Name = keyof typeof KEYS;
const REGIONS = [
  {
    name: 'lane',
    polygon: [
      [0, 0],
      [1, 0],
      [1, 1],
    ],
  },
];
const picture = readFileSync(PICTURE);

let folder: string;
const keysOf = (...rows: string[]) => {
  const file = join(folder, `keys-${rows.length}-${Math.random().toString(36).slice(2)}`);
  writeFileSync(file, rows.join('\n'));
  return file;
};

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'lattice-two-keys-'));
  mkdirSync(join(folder, 'gate'));
  writeFileSync(join(folder, 'gate', 'shapes.png'), picture);
  await writeEnlarged(join(folder, 'large.png'), 4);
});

afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

/** JSON, or bytes. */
function ask(
  service: ServiceProcess,
  key: Name,
  path: string,
  { method = 'GET', body }: { method?: string; body?: object | Buffer } = {},
): Promise<Answer> {
  const isJson = body !== undefined && !Buffer.isBuffer(body);
  return call(service.url, path, {
    method,
    redirect: 'manual',
    headers: {
      authorization: `Bearer ${KEYS[key]}`,
      ...(isJson ? { 'content-type': 'application/json' } : {}),
    },
    ...(body === undefined ? {} : { body: isJson ? JSON.stringify(body) : body }),
  });
}

const job = (fields: object = {}) => ({
  job_type: 'detect_vehicles',
  image_paths: ['gate/shapes.png'],
  ...fields,
});

async function submitted(service: ServiceProcess, key: Name, fields: object = {}): Promise<string> {
  const answer = await ask(service, key, '/v1/jobs/submit', { method: 'POST', body: job(fields) });
  expect(answer, answer.text).toMatchObject({ status: 202 });
  return answer.body.job_id;
}

describe('what is of one key', () => {
  interface Operation {
    operationId: string;
    description: string;
    requestBody?: { required?: boolean };
  }

  let service: ServiceProcess;
  let receiver: Server;
  let operations: (Operation & { path: string; method: string })[];
  /** Ids and names that belong to Alice, by the names of parameters. */
  const hers: Record<string, string> = {};

  beforeAll(async () => {
    receiver = createServer((_request, response) => response.end()).listen(0, '127.0.0.1');
    await once(receiver, 'listening');
    service = await startService({
      env: {
        ...FEW_THREADS,
        LATTICE_IMAGE_ROOTS: folder,
        LATTICE_API_KEYS_FILE: keysOf(
          `${KEYS.alice} [admin] Alice-of-the-tower`,
          `${KEYS.bob} [watches=0.5%] Bob`,
          `${KEYS.carol} [metrics] Prometheus`,
        ),
      },
    });
    const alice = (path: string, method: string, body?: object | Buffer) =>
      ask(service, 'alice', path, { method, ...(body && { body }) });
    await alice('/v1/views/her-view', 'PUT', { regions: REGIONS });
    await alice('/v1/models/aliases/shared-alias', 'PUT', { model: 'yolov8n' });
    await alice('/v1/watches', 'POST', {
      name: 'her-watch',
      paths: ['gate'],
      job_type: 'detect_cars',
    });
    const upload = await alice('/v1/uploads', 'POST', {});
    hers.upload_id = (upload.body as unknown as { upload_id: string }).upload_id;
    await alice(`/v1/uploads/${hers.upload_id}/her-photo.png`, 'PUT', picture);
    const { port } = receiver.address() as AddressInfo;
    hers.job_id = await submitted(service, 'alice', {
      annotate: true,
      name: 'her-job-name',
      tags: ['her-tag'],
      view: 'her-view',
      callback_url: `http://127.0.0.1:${port}/`,
    });
    await eventually(async () => {
      const { body } = await ofAlice(`/v1/jobs/${hers.job_id}/status`);
      expect(body.status).toBe('completed');
    });
    const result = await ofAlice(`/v1/jobs/${hers.job_id}/result`);
    hers.file = result.body.result.annotated_url.split('/').at(-1) ?? '';
    const { class: name, box } = result.body.result.detections[0]!;
    BODIES.dismissPlace = { job_id: hers.job_id, index: 0, class: name, box };
    const dismissal = await alice('/v1/places/dismissals', 'POST', BODIES.dismissPlace);
    namesIn['/v1/places'] = String((dismissal.body as unknown as { id: number }).id);
    const document = (await call(service.url, '/openapi.json')).body as unknown as {
      paths: Record<string, Record<string, Operation>>;
    };
    operations = Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]) => ({
        ...operation,
        path,
        method: method.toUpperCase(),
      })),
    );
  });

  afterAll(async () => {
    receiver.close();
    await service[Symbol.asyncDispose]();
  });

  const ofAlice = (path: string) => ask(service, 'alice', path);

  /** A name is that of what the path begins with. */
  const namesIn: Record<string, string> = {
    '/v1/watches': 'her-watch',
    '/v1/views': 'her-view',
    '/v1/models': 'shared-alias',
    '/v1/uploads': 'her-photo.png',
    '/docs': 'start.js',
    '/ui': 'main.js',
  };
  const nameOf = (path: string) =>
    Object.entries(namesIn).find(([start]) => path.startsWith(start))?.[1] ?? '';
  const addressOf = (path: string) =>
    path.replace(/\{(\w+)\}/g, (_, name: string) => hers[name] ?? nameOf(path));
  const QUERIES: Record<string, () => string> = {
    getJobChanges: () => `?with=${hers.job_id}`,
    getJobAgreement: () => `?with=${hers.job_id}`,
    getImageFile: () => `?path=her-photo.png&upload=${hers.upload_id}`,
    getReport: () => '?tag=her-tag',
    cancelJob: () => '?purge=true',
  };
  const BODIES: Record<string, object | Buffer> = {
    detect: { image_path: 'gate/shapes.png', view: 'her-view' },
    submitJob: job({ view: 'her-view' }),
    patchJob: { name: 'his now' },
    createUpload: {},
    putUploadedFile: picture,
    addWatch: { name: 'her-watch', paths: ['gate'], job_type: 'detect_cars' },
    changeWatch: { paused: true },
    changeCameraFinding: { camera: 'gate', kind: 'moved', dismissed: true },
    putView: { regions: REGIONS, paths: ['**'] },
    putAlias: { model: 'yolov8n' },
  };
  /** Operations on resources of all keys, though their paths have a parameter, or of the caller, as a view is. */
  const ANSWERED = ['getAlias', 'getAgreement', 'putView', 'docsAsset', 'uiAsset'];
  const askAs = (key: Name, { path, method, operationId }: (typeof operations)[number]) => {
    const address = addressOf(path) + (QUERIES[operationId]?.() ?? '');
    const body = BODIES[operationId];
    return ask(service, key, address, { method, ...(body && { body }) });
  };
  const isOwned = ({ path, operationId }: (typeof operations)[number]) =>
    path.includes('{') && !ANSWERED.includes(operationId);
  const isForAdmin = ({ description }: Operation) => description.includes('only those may call');

  /** All that Alice has, as she sees it. */
  async function herState(): Promise<string[]> {
    const paths = [
      ...['status', 'result', 'summary', 'webhook'].map(
        (each) => `/v1/jobs/${hers.job_id}/${each}`,
      ),
      '/v1/views/her-view',
      '/v1/models/aliases',
      '/v1/places/dismissals',
      `/v1/images/file?path=her-photo.png&upload=${hers.upload_id}`,
      `/v1/annotated/${hers.file}`,
    ];
    const answers = await Promise.all(paths.map(ofAlice));
    const watch = (await ofAlice('/v1/watches/her-watch')).body as unknown as { state: string };
    const states = answers.map(({ status, text }) => `${status} ${text}`);
    return [...states, watch.state];
  }

  test('every route of the document refuses or hides it from the other key, and leaves it as it is', async () => {
    const before = await herState();
    expect(before.every((each) => !/^[45]/.test(each))).toBe(true);
    const secrets = [
      ...Object.values(hers),
      ...['her-view', 'her-watch', 'her-photo', 'her-job-name', 'her-tag', 'Alice-of-the-tower'],
    ];
    const ids = operations.map(({ operationId }) => operationId);
    expect(ids).toEqual(expect.arrayContaining([...ANSWERED, ...Object.keys(BODIES)]));
    const withBody = operations.filter(({ requestBody }) => requestBody?.required === true);
    // A new route with a body needs one here, or its refusal says nothing of keys.
    expect(Object.keys(BODIES)).toEqual(
      expect.arrayContaining(withBody.map(({ operationId }) => operationId)),
    );
    const isStream = ({ operationId }: Operation) => operationId === 'stream';
    // First those of hers: others make things of Bob's with the same names.
    const hersFirst = operations.toSorted((a, b) => Number(isOwned(b)) - Number(isOwned(a)));
    for (const operation of hersFirst.filter((each) => !isStream(each))) {
      const named = `${operation.method} ${operation.path}`;
      const answer = await askAs('bob', operation);
      if (isForAdmin(operation)) {
        expect([named, answer.status, answer.body.code]).toEqual([named, 403, 'forbidden']);
      } else if (isOwned(operation)) {
        expect([named, answer.status], answer.text).toEqual([named, 404]);
        expect(answer.body.code, named).toMatch(/not_found$/);
      } else {
        expect(answer.status, `${named} ${answer.text}`).toBeLessThan(500);
        const sent = JSON.stringify([
          addressOf(operation.path),
          BODIES[operation.operationId] ?? '',
        ]);
        const seen = secrets.filter((each) => !sent.includes(each) && answer.text.includes(each));
        expect([named, seen]).toEqual([named, []]);
      }
    }
    expect(await herState()).toEqual(before);
  });

  test('the same routes find it for its own key', async () => {
    for (const operation of operations.filter((each) => isOwned(each) && each.method === 'GET')) {
      const answer = await askAs('alice', operation);
      expect([operation.path, answer.status], answer.text).not.toEqual([operation.path, 404]);
    }
  });

  test('the report of a tag has the jobs of its own key', async () => {
    const reportOf = (key: Name) => ask(service, key, '/v1/report?tag=her-tag');
    expect(await reportOf('bob')).toMatchObject({ status: 404, body: { code: 'job_not_found' } });
    const his = await submitted(service, 'bob', { tags: ['her-tag'], name: 'his-job-name' });
    await eventually(async () => {
      expect((await ask(service, 'bob', `/v1/jobs/${his}/status`)).body.status).toBe('completed');
    });
    const seen = await Promise.all((['alice', 'bob'] as const).map(reportOf));
    expect(seen.map(({ status }) => status)).toEqual([200, 200]);
    const names = seen.map(({ text }) => /her-job-name|his-job-name/.exec(text)?.[0]);
    expect(names).toEqual(['her-job-name', 'his-job-name']);
  });

  test('neither an upload nor a view of another key can be named in a request', async () => {
    const submit = (fields: object) =>
      ask(service, 'bob', '/v1/jobs/submit', { method: 'POST', body: job(fields) });
    expect(await submit({ upload: hers.upload_id, image_paths: ['.'] })).toMatchObject({
      status: 404,
      body: { code: 'upload_not_found' },
    });
    await ask(service, 'bob', '/v1/views/her-view', { method: 'DELETE' });
    expect(await submit({ view: 'her-view' })).toMatchObject({
      status: 422,
      body: { code: 'unknown_view' },
    });
  });

  test('the event stream tells each key of its own jobs, from the first event on', async () => {
    const headers = (key: Name) => ({ headers: { authorization: `Bearer ${KEYS[key]}` } });
    const bob = await StreamConnection.open(service.url, headers('bob'));
    const alice = await StreamConnection.open(service.url, headers('alice'));
    for (const each of [bob, alice]) each.send({ action: 'subscribe', after_seq: 0 });
    await eventually(() => {
      expect(alice.messages.map(({ job_id }) => job_id)).toContain(hers.job_id);
    });
    const more = await submitted(service, 'alice');
    await eventually(() => {
      expect(alice.messages.filter(({ job_id }) => job_id === more).length).toBeGreaterThan(2);
    });
    const heard = (await bob.settled()).map(({ job_id }) => job_id);
    expect(heard).not.toContain(hers.job_id);
    expect(heard).not.toContain(more);
    for (const each of [bob, alice]) each.socket.close();
  });

  test('use is shown to its key, and that of all keys to an admin and a scraper', async () => {
    const keysSeenBy = async (key: Name) => {
      const { keys } = (await ask(service, key, '/v1/usage')).body as unknown as {
        keys: { name: string; is_own: boolean; quotas: { quota: string; used: number }[] }[];
      };
      return keys;
    };
    const [own, other] = await keysSeenBy('alice');
    expect([own, other]).toMatchObject([
      { name: 'Alice-of-the-tower', is_own: true },
      { name: 'Bob', is_own: false },
    ]);
    const used = Object.fromEntries((own?.quotas ?? []).map((each) => [each.quota, each.used]));
    expect(used).toMatchObject({ watches: 1, jobs: 0 });
    expect(used.store).toBeGreaterThan(1_000);
    expect(used.uploads).toBeGreaterThanOrEqual(picture.length);
    expect(await keysSeenBy('bob')).toMatchObject([{ name: 'Bob', is_own: true }]);
    const metrics = async (key: Name) => (await ask(service, key, '/metrics')).text;
    for (const key of ['alice', 'carol'] as const) {
      expect(await metrics(key)).toMatch(/^lattice_key_watches\{key="Alice-of-the-tower"\} 1$/m);
    }
    const seen = await metrics('bob');
    expect(seen).toContain('lattice_jobs{');
    expect(seen).not.toMatch(/Alice-of-the-tower|her-watch/);
  });

  test('a mark is the limit of its key', async () => {
    const watch = (name: string) =>
      ask(service, 'bob', '/v1/watches', {
        method: 'POST',
        body: { name, paths: ['gate'], job_type: 'detect_cars' },
      });
    await watch('his-only');
    const refused = await watch('one-too-many');
    expect(refused).toMatchObject({ status: 429, body: { code: 'quota_exceeded' } });
    expect(refused.body.detail).toContain("mark 'watches'");
    expect(refused.headers.get('retry-after')).toBe('60');
  });
});

describe('a key that takes all that it may have', () => {
  let service: ServiceProcess;
  const ROOM = 4 * 2 ** 20;

  beforeAll(async () => {
    service = await startService({
      env: {
        ...FEW_THREADS,
        LATTICE_IMAGE_ROOTS: folder,
        LATTICE_STORE_MAX_MB: '4',
        LATTICE_UPLOADS_MAX_MB: String(ROOM / 2 ** 20),
        LATTICE_MAX_QUEUED_JOBS: '10',
        LATTICE_API_KEYS_FILE: keysOf(
          `${KEYS.alice} Alice`,
          `${KEYS.bob} Bob`,
          `${KEYS.carol} [store=1% uploads=1% jobs=1% watches=1% requests=1] Carol`,
        ),
      },
    });
  });

  afterAll(() => service[Symbol.asyncDispose]());

  const submit = (key: Name, fields: object) =>
    ask(service, key, '/v1/jobs/submit', { method: 'POST', body: job(fields) });

  const allEnded = (key: Name) =>
    eventual(async () => {
      const { body } = await ask(service, key, '/v1/jobs?status=pending,running');
      return body.jobs.length;
    }).toBe(0);

  /** Until the first refusal. */
  async function accepted(key: Name, fields: object, most: number): Promise<[string[], Answer]> {
    const ids: string[] = [];
    for (;;) {
      const answer = await submit(key, fields);
      if (answer.status !== 202 || ids.length === most) return [ids, answer];
      ids.push(answer.body.job_id);
    }
  }

  test('of the queue: the other key submits', async () => {
    const many = { image_paths: Array.from({ length: 300 }, () => 'large.png') };
    const [ids, refused] = await accepted('alice', many, 12);
    expect(refused).toMatchObject({ status: 429, body: { code: 'quota_exceeded' } });
    expect(refused.body.detail).toContain('LATTICE_MAX_QUEUED_JOBS');
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(ids.length).toBe(8);
    const his = await submitted(service, 'bob');
    for (const id of ids) await ask(service, 'alice', `/v1/jobs/${id}`, { method: 'DELETE' });
    await eventual(
      async () => (await ask(service, 'bob', `/v1/jobs/${his}/status`)).body.status,
    ).toBe('completed');
    for (const id of ids) {
      await ask(service, 'alice', `/v1/jobs/${id}?purge=true`, { method: 'DELETE' });
    }
  });

  test('of the store by kept jobs: the other key has its jobs', async () => {
    const kept = { keep: true, metadata: { text: 'x'.repeat(60_000) } };
    const ids: string[] = [];
    let refused: Answer;
    do {
      const [more, answer] = await accepted('alice', kept, 500);
      ids.push(...more);
      refused = answer;
      // Its jobs that wait are no more than it may have of the queue.
      await allEnded('alice');
    } while (refused.body.detail.includes('LATTICE_MAX_QUEUED_JOBS'));
    expect(refused).toMatchObject({ status: 429, body: { code: 'quota_exceeded' } });
    expect(refused.body.detail).toMatch(/LATTICE_STORE_MAX_MB.*Remove jobs, or keep fewer\./);
    const late = await ask(service, 'alice', `/v1/jobs/${ids[0]}`, {
      method: 'PATCH',
      body: { keep: true },
    });
    expect(late.body.code).toBe('quota_exceeded');
    for (let round = 0; round < 5; round += 1) {
      const his = await submitted(service, 'bob', { metadata: { text: 'x'.repeat(10_000) } });
      await allEnded('bob');
      expect((await ask(service, 'bob', `/v1/jobs/${his}/result`)).status).toBe(200);
    }
    expect((await ask(service, 'alice', `/v1/jobs/${ids[0]}/result`)).status).toBe(200);
    for (const id of ids) {
      await ask(service, 'alice', `/v1/jobs/${id}?purge=true`, { method: 'DELETE' });
    }
    await eventual(async () => (await submit('alice', kept)).status).toBe(202);
  });

  test('of uploads: the other key sends its photos', async () => {
    const create = async (key: Name) => {
      const { body } = await ask(service, key, '/v1/uploads', { method: 'POST', body: {} });
      return (body as unknown as { upload_id: string }).upload_id;
    };
    const photo = Buffer.concat([picture, Buffer.alloc(ROOM / 16 - picture.length)]);
    const send = (key: Name, id: string, name: string) =>
      ask(service, key, `/v1/uploads/${id}/${name}`, { method: 'PUT', body: photo });
    const hers = await create('alice');
    let refused: Answer;
    let sent = 0;
    for (; ; sent += 1) {
      refused = await send('alice', hers, `${sent}.png`);
      if (refused.status !== 201) break;
    }
    expect(refused).toMatchObject({ status: 429, body: { code: 'quota_exceeded' } });
    expect(sent).toBe(12);
    expect((await send('bob', await create('bob'), 'his.png')).status).toBe(201);
  });

  test('of requests per second: the other key is answered', async () => {
    const answers = await Promise.all(
      Array.from({ length: 40 }, () => ask(service, 'carol', '/v1/models')),
    );
    const refused = answers.filter(({ status }) => status === 429);
    expect(refused.length).toBeGreaterThan(0);
    expect(refused[0]).toMatchObject({ body: { code: 'quota_exceeded' } });
    expect(refused[0]?.headers.get('retry-after')).toBe('1');
    expect((await ask(service, 'bob', '/v1/models')).status).toBe(200);
  });

  test('the start warns that no key is an admin', () => {
    expect(service.stdout()).toContain('no API key has the mark admin');
  });
});
