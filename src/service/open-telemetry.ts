/**
 * Traces over OTLP, where OpenTelemetry's own variables name a collector: a span per request, and one per job in the
 * trace of the request that submitted it. The libraries are installed by who wants traces, and loaded only then.
 */
import type { Attributes, Context } from '@opentelemetry/api';
import type { TraceContext } from '../base/trace-context.js';
import type { ReleaseList } from '../base/releases.js';
import type { SpanFacts, Tracing } from '../base/tracing-port.js';
import { ConfigError, traceCollector } from '../settings/config.js';

const SERVICE = 'lattice-core';
/** Limit of an export with all repetitions: a collector that does not answer delays a stop by no more. */
const EXPORT_MS = 2_000;
const PACKAGES = [
  '@opentelemetry/api@1.9',
  '@opentelemetry/sdk-trace-base@2.12',
  '@opentelemetry/resources@2.12',
  '@opentelemetry/exporter-trace-otlp-http@0.223',
];

/** Null where no collector is named. Rejects with `ConfigError` where the libraries are missing. */
export async function openTelemetry(
  version: string,
  releases: ReleaseList,
): Promise<Tracing | null> {
  const endpoint = traceCollector();
  if (endpoint === null) return null;
  const { api, sdk, resources, exporter } = await load(endpoint);
  const ofService = resources.resourceFromAttributes({
    'service.name': SERVICE,
    'service.version': version,
  });
  const named = resources.detectResources({ detectors: [resources.envDetector] });
  const provider = new sdk.BasicTracerProvider({
    resource: ofService.merge(named),
    spanProcessors: [
      new sdk.BatchSpanProcessor(new exporter.OTLPTraceExporter({ timeoutMillis: EXPORT_MS })),
    ],
  });
  // Spans that are left are sent within the time of an export.
  releases.add('traces', () => provider.shutdown());
  const tracer = provider.getTracer(SERVICE, version);
  const within = (parent: TraceContext | null): Context =>
    parent === null
      ? api.ROOT_CONTEXT
      : api.trace.setSpanContext(api.ROOT_CONTEXT, {
          traceId: parent.traceId,
          spanId: parent.spanId,
          traceFlags: parseInt(parent.flags, 16),
          isRemote: true,
        });
  const failure = { code: api.SpanStatusCode.ERROR };
  return {
    begin(caller) {
      const span = tracer.startSpan('request', { kind: api.SpanKind.SERVER }, within(caller));
      const { traceId, spanId, traceFlags } = span.spanContext();
      return {
        context: { traceId, spanId, flags: traceFlags.toString(16).padStart(2, '0') },
        end(name, facts, isFailed) {
          span.updateName(name);
          span.setAttributes(attributesOf(facts));
          if (isFailed) span.setStatus(failure);
          span.end();
        },
      };
    },
    record(name, asked, { from, to }, facts, isFailed) {
      const attributes = attributesOf(facts);
      const options = { startTime: 1_000 * from, attributes };
      const span = tracer.startSpan(name, options, within(asked));
      if (isFailed) span.setStatus(failure);
      span.end(1_000 * to);
    },
  };
}

async function load(endpoint: string) {
  try {
    const [api, sdk, resources, exporter] = await Promise.all([
      import('@opentelemetry/api'),
      import('@opentelemetry/sdk-trace-base'),
      import('@opentelemetry/resources'),
      import('@opentelemetry/exporter-trace-otlp-http'),
    ]);
    return { api, sdk, resources, exporter };
  } catch (error) {
    throw new ConfigError(
      `${endpoint} names a collector, but OpenTelemetry's libraries are not installed: ` +
        `npm install ${PACKAGES.join(' ')}`,
      { cause: error },
    );
  }
}

function attributesOf(facts: SpanFacts): Attributes {
  return Object.fromEntries(Object.entries(facts).filter(([, value]) => value !== undefined));
}
