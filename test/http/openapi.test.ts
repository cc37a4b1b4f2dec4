/** The document says what the routes do: same routes, same shapes, examples that pass. */
import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, test } from 'vitest';
import { ERRORS } from '../../src/api/errors.js';
import { compose, get, post } from '../support/composed-app.js';
import { webhookRecord } from '../../src/answers/result-record.js';
import { composeMessage } from '../../src/webhooks/webhook-message.js';
import { endedJob, pagesOf } from '../support/ended-job.js';
import { errorOutcome, okOutcome } from '../support/outcomes.js';

interface Media {
  schema: Record<string, unknown>;
  example?: unknown;
}
interface Parameter {
  name: string;
  in: string;
  required?: boolean;
  schema: Record<string, unknown>;
}
interface Operation {
  operationId: string;
  summary: string;
  description?: string;
  tags: string[];
  requestBody?: { required?: boolean; content: Record<string, Media> };
  parameters?: Parameter[];
  responses: Record<string, DocumentedResponse>;
}
interface DocumentedResponse {
  description: string;
  content?: Record<string, Media>;
  headers?: Record<string, { required: boolean; schema: Record<string, unknown> }>;
  links?: Record<string, { operationId: string; parameters: Record<string, string> }>;
}
interface Document {
  openapi: string;
  info: { title: string; version: string };
  tags: { name: string }[];
  paths: Record<string, Record<string, Operation>>;
  webhooks: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, Record<string, unknown>>; securitySchemes: object };
}

const app = compose();
const document = (await get(app, '/openapi.json')).body as Document;
const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
);

function compileSchema(name: string) {
  // Formats and `example` are documentation, not rules.
  const ajv = new Ajv2020({ allErrors: true, validateFormats: false, strict: false });
  return ajv.compile({
    components: document.components,
    $ref: `#/components/schemas/${name}`,
  });
}

test('it is OpenAPI 3.1 of this version and is generated once', () => {
  expect(document.openapi).toBe('3.1.0');
  expect(document.info).toMatchObject({ title: 'lattice-core', version: '1.2.3' });
  expect(app.openApi()).toEqual(document);
});

test('every operation says what it is for, and more than its summary', () => {
  const webhooks = Object.values(document.webhooks).flatMap((methods) => Object.values(methods));
  for (const operation of [...operations.map((each) => each.operation), ...webhooks]) {
    const { operationId, summary, description = '' } = operation;
    expect(summary, operationId).toMatch(/\w/);
    expect(description.length, operationId).toBeGreaterThan(20);
    expect(description, operationId).not.toBe(summary);
    expect(description, operationId).toMatch(/\.$/);
  }
});

test('every route is in the document, and nothing else', () => {
  const registered = app.app.routes
    .filter(({ method }) => method !== 'ALL')
    .map(({ method, path }) => `${method} ${path.replace(/:(\w+)(?:\{.+\})?/g, '{$1}')}`);
  const documented = operations.map(({ method, path }) => `${method.toUpperCase()} ${path}`);
  expect(documented.sort()).toEqual([...new Set(registered)].sort());
  expect(documented).toEqual(
    expect.arrayContaining([
      'GET /healthz',
      'POST /v1/jobs/submit',
      'GET /v1/jobs/{job_id}/status',
      'GET /v1/jobs/{job_id}/result',
      'POST /v1/inference/detect',
      'GET /v1/stream',
      'GET /v1/cluster/status',
      'GET /docs',
    ]),
  );
});

test('no text says a word twice', () => {
  const texts = JSON.stringify(document).match(/"(?:description|summary)":"(?:[^"\\]|\\.)*"/g);
  expect(texts!.length).toBeGreaterThan(300);
  for (const text of texts!) expect(text).not.toMatch(/\b([a-z]+(?: [a-z]+)?) \1(?![\w-])/i);
});

test('operations are named once, described, tagged, and name their path parameters', () => {
  const ids = operations.map(({ operation }) => operation.operationId);
  expect(new Set(ids).size).toBe(ids.length);
  const tags = document.tags.map((tag) => tag.name);
  expect(new Set(tags).size).toBe(tags.length);
  for (const { path, operation } of operations) {
    expect(operation.summary, path).toBeTruthy();
    expect(tags).toEqual(expect.arrayContaining(operation.tags));
    const declared = (operation.parameters ?? []).filter((p) => p.in === 'path');
    expect(declared.map((p) => `{${p.name}}`)).toEqual(path.match(/\{\w+\}/g) ?? []);
    expect(declared.every((p) => p.required)).toBe(true);
  }
});

test('every reference resolves', () => {
  const references = [
    ...JSON.stringify(document).matchAll(/"\$ref":"#\/components\/schemas\/(\w+)"/g),
  ];
  expect(references.length).toBeGreaterThan(20);
  for (const [, name] of references) expect(document.components.schemas).toHaveProperty(name!);
});

test('refused answers are problems with a status of the error table', () => {
  const known = new Set(Object.values(ERRORS).map(({ status }) => String(status)));
  for (const { path, operation } of operations) {
    for (const [status, response] of Object.entries(operation.responses)) {
      if (Number(status) < 400) continue;
      expect(known, `${path} ${status}`).toContain(status);
      expect(Object.keys(response.content ?? {})).toEqual(['application/problem+json']);
    }
  }
});

test.each([
  ['get', '/v1/jobs/{job_id}/status', ['200', '404']],
  ['get', '/v1/jobs/{job_id}/result', ['200', '404', '409']],
  ['post', '/v1/inference/detect', ['200', '422', '500', '503', '504']],
  ['post', '/v1/jobs/submit', ['202', '400', '413', '415', '422', '429', '503']],
  ['get', '/v1/cluster/status', ['200', '503']],
])('%s %s documents %j', (method, path, statuses) => {
  const { responses } = document.paths[path]![method]!;
  expect(Object.keys(responses)).toEqual(expect.arrayContaining(statuses));
});

test('bodies are required', () => {
  for (const path of ['/v1/jobs/submit', '/v1/inference/detect']) {
    expect(document.paths[path]!.post!.requestBody?.required).toBe(true);
  }
});

test('the document has no construct that breaks generators', () => {
  const tagsOf = (paths: Document['paths']) =>
    Object.values(paths).flatMap((path) => Object.values(path).flatMap(({ tags }) => tags));
  const ofRoutes = tagsOf(document.paths);
  expect(tagsOf(document.webhooks).filter((tag) => ofRoutes.includes(tag))).toEqual([]);
  // A number without a format is one of 32 bits to some generators.
  const wide = /^(?:submitted|started|completed)_|_at$|_bytes$/;
  const narrow = Object.entries(document.components.schemas).flatMap(([name, { properties }]) =>
    Object.entries((properties ?? {}) as Record<string, { format?: string; anyOf?: unknown }>)
      .filter(
        ([field, { format }]) => wide.test(field) && !['double', 'int64'].includes(format ?? ''),
      )
      .map(([field]) => `${name}.${field}`),
  );
  expect(narrow).toEqual([]);
  const mayBeNull = JSON.stringify(document).includes('"type":["object","null"]');
  expect(mayBeNull).toBe(false);
});

test('the webhook and the ways to authenticate are described', () => {
  const { headers } = composeMessage(
    {
      deliveryId: 'msg_1',
      jobId: 'job_1',
      url: 'http://h/',
      host: 'h',
      attempt: 0,
      createdAt: 0,
      news: null,
    },
    { type: 'job.completed', json: '{}' },
    new Date(),
    () => 'v1,x',
  );
  const named = document.webhooks['job.ended']!.post!.parameters!.map(({ name }) => name);
  expect(named).toEqual(Object.keys(headers).filter((name) => name.startsWith('webhook-')));
  expect(document.components.securitySchemes).toMatchObject({
    bearer: { type: 'http', scheme: 'bearer' },
    apiKey: { type: 'apiKey', in: 'header', name: 'X-API-Key' },
  });
});

describe('schemas', () => {
  const named = Object.keys(document.components.schemas);

  test.each(named)('%s compiles and its example passes', (name) => {
    const validate = compileSchema(name);
    const { example } = document.components.schemas[name]!;
    if (example !== undefined) {
      validate(example);
      expect(validate.errors).toBeNull();
    }
  });

  test('every problem has an example of its own status', () => {
    const validate = compileSchema('Problem');
    for (const { path, operation } of operations) {
      for (const [status, { content }] of Object.entries(operation.responses)) {
        const example = content?.['application/problem+json']?.example;
        if (Number(status) < 400) continue;
        expect(example, path).toMatchObject({ status: Number(status) });
        validate(example);
        expect(validate.errors).toBeNull();
      }
    }
  });

  test('no filter has an example, which a documentation page would fill in', () => {
    const filters = document.paths['/v1/jobs']!.get!.parameters!;
    expect(filters.filter(({ schema }) => schema.example !== undefined)).toEqual([]);
  });

  test('both requests have examples that the service accepts', async () => {
    const example = (name: string) => document.components.schemas[name]!.example;
    expect(await post(app, '/v1/jobs/submit', example('JobSubmit'))).toMatchObject({ status: 202 });
    expect(await post(app, '/v1/inference/detect', example('DetectRequest'))).toMatchObject({
      status: 200,
    });
  });

  test('real answers pass the schema of their route', async () => {
    const check = (name: string, body: unknown) => {
      const validate = compileSchema(name);
      validate(body);
      expect(validate.errors, name).toBeNull();
    };
    const submitted = await post(app, '/v1/jobs/submit', {
      job_type: 'batch_detect',
      image_paths: ['a.jpg', 'b.jpg'],
    });
    check('JobAccepted', submitted.body);
    const id = submitted.body.job_id as string;
    await app.jobs.finish(id, [okOutcome(), okOutcome(['bus'])]);
    check('JobStatus', (await get(app, `/v1/jobs/${id}/status`)).body);
    check('JobResult', (await get(app, `/v1/jobs/${id}/result`)).body);
    check('JobList', (await get(app, '/v1/jobs')).body);
    check('ModelList', (await get(app, '/v1/models')).body);
    check('ClusterStatus', (await get(app, '/v1/cluster/status')).body);
    check('Health', (await get(app, '/healthz')).body);
    const failing = (
      await post(app, '/v1/jobs/submit', { job_type: 'detect_cars', image_paths: ['a.jpg'] })
    ).body.job_id as string;
    await app.jobs.finish(failing, [errorOutcome('invalid_image')]);
    check('JobStatus', (await get(app, `/v1/jobs/${failing}/status`)).body);
    check('JobResult', (await get(app, `/v1/jobs/${failing}/result`)).body);
    check('Problem', (await get(app, '/v1/jobs/none/status')).body);
    check('Problem', (await post(app, '/v1/jobs/submit', {})).body);
    const detected = await post(app, '/v1/inference/detect', { image_path: 'a.jpg' });
    check('DetectResponse', detected.body);
  });

  test.each(['JobSubmit', 'DetectRequest'])('%s: optional fields may be null', (name) => {
    const schema = document.components.schemas[name]!;
    const required = schema.required as string[];
    const example = schema.example as Record<string, unknown>;
    const validate = compileSchema(name);
    const optional: string[] = [];
    for (const field of Object.keys(schema.properties as object)) {
      const allowed = validate({ ...example, [field]: null });
      if (allowed) optional.push(field);
      expect(allowed, field).toBe(!required.includes(field));
    }
    expect(optional.length).toBeGreaterThan(5);
    expect(schema.description).toContain('null');
  });

  test('a schema refuses the values that the service refuses', () => {
    const validate = compileSchema('JobSubmit');
    expect(validate({ job_type: 'detect_cars', image_paths: ['a'] })).toBe(true);
    for (const wrong of [
      { job_type: 'detect_cars', image_paths: [] },
      { job_type: 'detect_cars', image_paths: ['a'], priority: 11 },
      { job_type: 'detect_cars', image_paths: ['a'], confidence_threshold: 1.01 },
      { job_type: 'detect_cars', image_paths: ['a'], colour: 1 },
      { job_type: 'x', image_paths: ['a'] },
      { job_type: 'detect_cars', image_paths: ['a'], vehicle_types: [1] },
      { job_type: 'detect_cars', image_paths: ['a'], classes: [] },
      { job_type: 'detect_cars', image_paths: ['a'], callback_url: 'ftp://h/' },
      { job_type: 'detect_cars', image_paths: ['a'], callback_url: 'http:///x' },
      { job_type: 'detect_cars', image_paths: ['a'], callback_url: 'http://u:p@h/' },
    ]) {
      expect(validate(wrong), JSON.stringify(wrong)).toBe(false);
    }
    for (const right of [
      { vehicle_types: ['BUS', 'Car'] },
      { classes: ['stop_sign'] },
      { callback_url: 'HTTPS://h?a=b@c' },
    ]) {
      const body = { job_type: 'detect_cars', image_paths: ['a'], ...right };
      expect(validate(body), JSON.stringify(body)).toBe(true);
    }
  });

  test.each([
    [1, false],
    [5_000, true],
  ])('the webhook of a job of %d images passes', async (count, isLong) => {
    const images = Array.from({ length: count }, (_, index) => ({
      index,
      path: `folder/${index}.jpg`,
      outcome: okOutcome(['car', 'bus']),
    }));
    const text = await webhookRecord(endedJob(count), pagesOf(images, 500), String);
    const data = JSON.parse(text) as object;
    expect('result_url' in data).toBe(isLong);
    const validate = compileSchema('WebhookBody');
    validate({ type: 'job.completed', timestamp: '2026-01-01T00:00:00Z', data });
    expect(validate.errors).toBeNull();
  });

  test('every schema has a name, so that generators need not invent one', () => {
    const unnamed: string[] = [];
    const needsName = (choice: Record<string, unknown>) =>
      !('$ref' in choice) && !('additionalProperties' in choice) && choice.type !== 'null';
    const look = (schema: Record<string, unknown>, path: string): void => {
      for (const [key, inner] of Object.entries(schema)) {
        if (typeof inner !== 'object' || inner === null || key === 'example') continue;
        const part = inner as Record<string, unknown>;
        const choices = (part.oneOf ?? part.anyOf) as Record<string, unknown>[] | undefined;
        const inline = choices?.filter((choice) => needsName(choice));
        if (inline !== undefined && inline.length > 0) unnamed.push(`${path}/${key}`);
        look(part, `${path}/${key}`);
      }
    };
    look(document.components.schemas, '');
    expect(unnamed).toEqual([]);
    expect(document.components.schemas).toMatchObject({
      JobState: { enum: ['pending', 'running', 'completed', 'failed'] },
      JobType: { enum: ['detect_cars', 'detect_vehicles', 'batch_detect'] },
      ErrorCode: { enum: Object.keys(ERRORS) },
      ImageEntry: {
        discriminator: {
          mapping: {
            ok: '#/components/schemas/ProcessedImage',
            error: '#/components/schemas/FailedImage',
          },
        },
      },
    });
  });
});

test('the header with the Python of the cluster is documented', () => {
  const { responses } = document.paths['/v1/cluster/status']!.get!;
  expect(responses['200']).toHaveProperty(['headers', 'x-lattice-cluster-python', 'schema']);
});

describe('headers', () => {
  const headersOf = (path: string, method: string, status: number) =>
    document.paths[path]![method]!.responses[status]!.headers ?? {};

  test('answers with a wait have Retry-After, and every 401 has WWW-Authenticate', () => {
    for (const { path, method, operation } of operations) {
      for (const [status, { headers }] of Object.entries(operation.responses)) {
        const named = `${method} ${path} ${status}`;
        if (status === '429' || status === '503')
          expect(headers, named).toHaveProperty('Retry-After');
        if (status === '401') expect(headers, named).toHaveProperty('WWW-Authenticate');
      }
    }
    expect(headersOf('/v1/jobs/{job_id}/result', 'get', 409)).toHaveProperty('Retry-After');
    // One of two codes says when to come again.
    expect(headersOf('/v1/jobs/{job_id}', 'delete', 409)).toMatchObject({
      'Retry-After': { required: false },
    });
    expect(headersOf('/v1/jobs/{job_id}/retry', 'post', 422)).toEqual({});
  });

  test('answers have their required headers, and a repeat its own', async () => {
    const required = (path: string, method: string, status: number) =>
      Object.entries(headersOf(path, method, status))
        .filter(([, header]) => header.required)
        .map(([name]) => name);
    const key = { 'idempotency-key': 'k' };
    const body = { job_type: 'detect_cars', image_paths: ['a.jpg'] };
    const first = await post(app, '/v1/jobs/submit', body, key);
    const again = await post(app, '/v1/jobs/submit', body, key);
    const id = first.body.job_id as string;
    const answers: [string, string, { status: number; headers: Headers }][] = [
      ['/v1/jobs/submit', 'post', first],
      ['/v1/jobs/submit', 'post', again],
      ['/v1/jobs/{job_id}/result', 'get', await get(app, `/v1/jobs/${id}/result`)],
      [
        '/v1/inference/detect',
        'post',
        await post(app, '/v1/inference/detect', { image_path: 'a' }),
      ],
      ['/', 'get', await get(app, '/')],
    ];
    for (const [path, method, { status, headers }] of answers) {
      const names = required(path, method, status);
      expect(names.length, `${path} ${status}`).toBe(1);
      expect(headers.get(names[0]!), `${path} ${status}`).not.toBeNull();
    }
    expect(headersOf('/v1/jobs/submit', 'post', 202)).toHaveProperty('Idempotency-Replayed');
    expect(again.headers.get('idempotency-replayed')).toBe('true');
  });
});

test('any route may refuse a Host, and the document says so', () => {
  for (const { path, operation } of operations) {
    expect(operation.responses['403']?.description, path).toContain('`forbidden`');
  }
});

test('an accepted job links to its status, its result and its cancel', () => {
  const { links } = document.paths['/v1/jobs/submit']!.post!.responses['202']!;
  const ids = operations.map(({ operation }) => operation.operationId);
  for (const { operationId, parameters } of Object.values(links!)) {
    expect(ids).toContain(operationId);
    expect(parameters).toEqual({ job_id: '$response.body#/job_id' });
  }
  expect(Object.keys(links!)).toEqual(['status', 'result', 'cancel']);
});

test.each([
  ['status', ['pending', 'pending,failed'], ['', 'Pending', 'pending,', 'done']],
  ['submitted_after', [0, 1.5], [-1]],
])('the filter %s accepts the values of its schema', async (name, right, wrong) => {
  const { parameters } = document.paths['/v1/jobs']!.get!;
  const validate = new Ajv2020({ strict: false }).compile(
    parameters!.find((parameter) => parameter.name === name)!.schema,
  );
  for (const value of [...right, ...wrong]) {
    const accepted = right.includes(value as never);
    expect([value, validate(value)]).toEqual([value, accepted]);
    const { status } = await get(app, `/v1/jobs?${name}=${value}`);
    expect([value, status]).toEqual([value, accepted ? 200 : 422]);
  }
});
