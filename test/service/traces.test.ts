/** Traces of a real service at a small collector of OTLP. */
import { expect, test } from 'vitest';
import { eventually } from '../support/eventually.js';
import { FEW_THREADS } from '../support/service-client.js';
import { startService } from '../support/service-process.js';
import { answerWith, startReceiver, type Receiver } from '../webhooks/receiver.js';

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const CALLER = '00f067aa0ba902b7';

interface ExportedSpan {
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  name: string;
  status: { code?: number };
  attributes: { key: string; value: { stringValue?: string; intValue?: number } }[];
}

interface Export {
  resourceSpans: {
    resource: { attributes: ExportedSpan['attributes'] };
    scopeSpans: { spans: ExportedSpan[] }[];
  }[];
}

const exportsOf = ({ received }: Receiver) =>
  received.map(({ body }) => JSON.parse(body) as Export);

const spansOf = (collector: Receiver) =>
  exportsOf(collector)
    .flatMap(({ resourceSpans }) => resourceSpans)
    .flatMap(({ scopeSpans }) => scopeSpans)
    .flatMap(({ spans }) => spans);

const textOf = (span: ExportedSpan, key: string) =>
  span.attributes.find((each) => each.key === key)?.value.stringValue;

async function spanOf(collector: Receiver, key: string, value: string): Promise<ExportedSpan> {
  let found: ExportedSpan | undefined;
  await eventually(() => {
    found = spansOf(collector).find((span) => textOf(span, key) === value);
    expect(found).toBeDefined();
  });
  return found!;
}

test('a request and its job are spans in the trace of the caller, by the id of the request', async () => {
  await using collector = await startReceiver(answerWith(200));
  await using service = await startService({
    env: {
      ...FEW_THREADS,
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url.replace(/\/$/, ''),
      OTEL_BSP_SCHEDULE_DELAY: '100',
      OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=north',
    },
  });
  const post = (path: string, id: string, body: object) =>
    fetch(service.url + path, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'x-request-id': id,
        traceparent: `00-${TRACE}-${CALLER}-01`,
      },
      body: JSON.stringify(body),
    });
  await post('/v1/inference/detect', 'a-picture', { image_path: 'shapes.png' });
  const picture = await spanOf(collector, 'lattice.request_id', 'a-picture');
  expect(picture).toMatchObject({
    name: 'POST /v1/inference/detect',
    traceId: TRACE,
    parentSpanId: CALLER,
  });
  expect(textOf(picture, 'lattice.model')).toBe('yolov8n.pt');
  const [first] = exportsOf(collector);
  expect(collector.received[0]!.path).toContain('/v1/traces');
  expect(first!.resourceSpans[0]!.resource.attributes).toContainEqual({
    key: 'service.name',
    value: { stringValue: 'lattice-core' },
  });

  const job = { job_type: 'batch_detect', image_paths: ['shapes.png'] };
  const answer = await post('/v1/jobs/submit', 'a-job', job);
  const { job_id: id } = (await answer.json()) as { job_id: string };
  await eventually(() => {
    const spans = spansOf(collector).filter((span) => textOf(span, 'lattice.job_id') === id);
    const [submission, run] = ['POST /v1/jobs/submit', 'job batch_detect'].map((name) =>
      spans.find((span) => span.name === name),
    );
    expect(run).toMatchObject({ traceId: TRACE, parentSpanId: submission!.spanId });
    expect(textOf(run!, 'lattice.request_id')).toBe('a-job');
  });
  expect(answer.headers.get('traceparent')).toContain(TRACE);
});

test('a collector that is away costs no answer and no stop', async () => {
  await using service = await startService({
    env: {
      ...FEW_THREADS,
      OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:9',
      OTEL_BSP_SCHEDULE_DELAY: '50',
    },
  });
  for (let n = 0; n < 5; n += 1) {
    const answer = await fetch(`${service.url}/v1/models`);
    expect(answer.status).toBe(200);
    expect(answer.headers.get('traceparent')).toMatch(/^00-\w{32}-\w{16}-01$/);
    await answer.arrayBuffer();
  }
  expect(await service.kill('SIGTERM')).toBe(0);
});
