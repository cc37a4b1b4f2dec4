/** The document says what the routes do: same routes, same shapes, examples that pass. */
import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, test } from 'vitest';
import { ERRORS, LatticeError } from '../../src/errors.js';
import { compose, get, post } from '../support/composed-app.js';
import { okOutcome } from '../support/fake-jobs.js';

interface Media {
  schema: Record<string, unknown>;
}
interface Operation {
  operationId: string;
  summary: string;
  tags: string[];
  requestBody?: { required?: boolean; content: Record<string, Media> };
  parameters?: { name: string; in: string; required?: boolean }[];
  responses: Record<string, { description: string; content?: Record<string, Media> }>;
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

test('it is OpenAPI 3.1 of this version and is made once', () => {
  expect(document.openapi).toBe('3.1.0');
  expect(document.info).toMatchObject({ title: 'lattice-core', version: '1.2.3' });
  expect(app.openApi()).toEqual(document);
});

test('every route is in the document, and nothing else', () => {
  const registered = app.app.routes
    .filter(({ method }) => method !== 'ALL')
    .map(({ method, path }) => `${method} ${path.replace(/:(\w+)/g, '{$1}')}`);
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

test('operations are named once, described, tagged, and name their path parameters', () => {
  const ids = operations.map(({ operation }) => operation.operationId);
  expect(new Set(ids).size).toBe(ids.length);
  const tags = document.tags.map((tag) => tag.name);
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

test('the webhook and the ways to authenticate are described', () => {
  expect(document.webhooks).toHaveProperty(['job.ended', 'post']);
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
    app.jobs.finish(id, [okOutcome(), okOutcome(['bus'])]);
    check('JobStatus', (await get(app, `/v1/jobs/${id}/status`)).body);
    check('JobResult', (await get(app, `/v1/jobs/${id}/result`)).body);
    check('JobList', (await get(app, '/v1/jobs')).body);
    check('ModelList', (await get(app, '/v1/models')).body);
    check('ClusterStatus', (await get(app, '/v1/cluster/status')).body);
    check('Health', (await get(app, '/healthz')).body);
    const failing = (
      await post(app, '/v1/jobs/submit', { job_type: 'detect_cars', image_paths: ['a.jpg'] })
    ).body.job_id as string;
    app.jobs.fail(failing, new LatticeError('all_images_failed', 'None.'));
    check('JobStatus', (await get(app, `/v1/jobs/${failing}/status`)).body);
    check('JobResult', (await get(app, `/v1/jobs/${failing}/result`)).body);
    check('Problem', (await get(app, '/v1/jobs/none/status')).body);
    check('Problem', (await post(app, '/v1/jobs/submit', {})).body);
    const detected = await post(app, '/v1/inference/detect', { image_path: 'a.jpg' });
    check('DetectResponse', detected.body);
  });

  test.each(['JobSubmit', 'DetectRequest'])('%s: what is optional may be null', (name) => {
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

  test('a schema refuses what the service refuses', () => {
    const validate = compileSchema('JobSubmit');
    expect(validate({ job_type: 'detect_cars', image_paths: ['a'] })).toBe(true);
    for (const wrong of [
      { job_type: 'detect_cars', image_paths: [] },
      { job_type: 'detect_cars', image_paths: ['a'], priority: 11 },
      { job_type: 'detect_cars', image_paths: ['a'], confidence_threshold: 1.01 },
      { job_type: 'detect_cars', image_paths: ['a'], colour: 1 },
      { job_type: 'x', image_paths: ['a'] },
    ]) {
      expect(validate(wrong), JSON.stringify(wrong)).toBe(false);
    }
  });
});

test('the header with the Python of the cluster is documented', () => {
  const { responses } = document.paths['/v1/cluster/status']!.get!;
  expect(responses['200']).toHaveProperty(['headers', 'x-lattice-cluster-python', 'schema']);
});
