/** The OpenAPI 3.1 document, generated from the registered routes. */
import { z, type OpenAPIHono } from '@hono/zod-openapi';
import {
  EVENT_WEBHOOK_EVENTS,
  FINDING_WEBHOOK_EVENTS,
  JOB_WEBHOOK_EVENTS,
  PLACE_WEBHOOK_EVENTS,
} from '../api/events.js';
import type { AppEnv } from './app-env.js';
import { eventNewsSchema, findingNewsSchema, placeNewsSchema } from '../answers/camera-record.js';
import { jobDigestSchema, jobResultSchema } from '../answers/result-record.js';
import { METADATA_COMPONENT } from './routes/jobs/read-submission.js';

const webhookSchema = z
  .object({
    type: z.enum(JOB_WEBHOOK_EVENTS),
    timestamp: z.string().openapi({ format: 'date-time' }),
    data: z.union([jobResultSchema, jobDigestSchema]),
  })
  .openapi('WebhookBody');

/** Webhooks of changes at cameras of watches. */
const CAMERA_WEBHOOKS = [
  {
    path: 'camera.finding',
    operationId: 'cameraFinding',
    summary:
      'Sent to the callback_url of a watch with `camera_health` when a finding opens or closes',
    description: 'The job and the index say which picture began the finding.',
    schema: cameraWebhook(FINDING_WEBHOOK_EVENTS, findingNewsSchema).openapi('CameraWebhookBody'),
  },
  {
    path: 'camera.event',
    operationId: 'cameraEvent',
    summary: 'Sent to the callback_url of a watch with `event_gap_s` when an event is over',
    description: 'The job and the index say which picture shows the most vehicles.',
    schema: cameraWebhook(EVENT_WEBHOOK_EVENTS, eventNewsSchema).openapi('EventWebhookBody'),
  },
  {
    path: 'place.changed',
    operationId: 'placeChanged',
    summary:
      'Sent to the callback_url of a watch with `places` when a vehicle stands in a place or has left it',
    description: 'The job and the index say with which picture it became certain.',
    schema: cameraWebhook(PLACE_WEBHOOK_EVENTS, placeNewsSchema).openapi('PlaceWebhookBody'),
  },
];

function cameraWebhook(types: readonly string[], news: z.ZodObject) {
  return z.object({
    type: z.enum(types),
    timestamp: z.string().openapi({ format: 'date-time' }),
    data: z.object({ watch: z.string(), job_id: z.string(), ...news.shape }),
  });
}

const webhookHeaders = z.object({
  'webhook-id': z.string().openapi({ description: 'The same at every attempt of a delivery' }),
  'webhook-timestamp': z
    .string()
    .openapi({ description: 'Unix seconds of this attempt', example: '1763722800' }),
  'webhook-signature': z.string().optional().openapi({
    description: 'Present when a secret is set: one `v1,BASE64` per secret, separated by spaces',
  }),
});

/** Security schemes, the webhook and a schema that no route contains. */
function registerComponents({ openAPIRegistry: registry }: OpenAPIHono<AppEnv>): void {
  registry.registerComponent('securitySchemes', 'bearer', { type: 'http', scheme: 'bearer' });
  registry.registerComponent('securitySchemes', 'apiKey', {
    type: 'apiKey',
    in: 'header',
    name: 'X-API-Key',
  });
  registry.registerComponent('schemas', 'JobMetadata', METADATA_COMPONENT);
  registry.registerWebhook({
    method: 'post',
    path: 'job.ended',
    operationId: 'jobEnded',
    summary: 'Sent to callback_url when a job completes or fails (Standard Webhooks)',
    description:
      'The body is the result record of the job; if that is too long, the record without `images` and with `result_url`. ' +
      'A delivery is repeated until it is answered 2xx or given up, so a receiver may see it more than once: ' +
      'compare `webhook-id`.',
    // The tag is not `Jobs`: generators with one class per tag would overwrite the class of the routes.
    tags: ['Webhooks'],
    request: {
      headers: webhookHeaders,
      body: { required: true, content: { 'application/json': { schema: webhookSchema } } },
    },
    responses: WEBHOOK_ANSWERS,
  });
  for (const { schema, ...webhook } of CAMERA_WEBHOOKS) {
    registry.registerWebhook({
      method: 'post',
      ...webhook,
      tags: ['Webhooks'],
      request: {
        headers: webhookHeaders,
        body: { required: true, content: { 'application/json': { schema } } },
      },
      responses: WEBHOOK_ANSWERS,
    });
  }
}

const WEBHOOK_ANSWERS = {
  200: { description: 'Any 2xx is a success; after any other answer the delivery is repeated' },
};

export function openApiDocument(app: OpenAPIHono<AppEnv>, version: string): object {
  registerComponents(app);
  return nullBesideObjects(
    app.getOpenAPI31Document({
      openapi: '3.1.0',
      info: {
        title: 'lattice-core',
        version,
        description:
          'Object detection (cars and other vehicles) on images of a shared volume. ' +
          'Every error answer is an RFC 9457 problem. Timestamps are Unix seconds. ' +
          'Every answer has `X-Request-Id`: that of the request, or a new one. `x-pages` says what web pages may do with an ' +
          'operation whose origin is neither that of the service nor one of LATTICE_CORS_ORIGINS: in development `reads` and ' +
          '`detects` are open to them, `own` and a field marked so are answered 403.',
        license: { name: 'Apache-2.0', url: 'https://www.apache.org/licenses/LICENSE-2.0' },
      },
      servers: [{ url: '/' }],
      // An empty requirement: without configured keys there is no authentication.
      security: [{}, { bearer: [] }, { apiKey: [] }],
      tags: [
        { name: 'Inference', description: 'One image, synchronous' },
        { name: 'Jobs', description: 'Many images, durable' },
        { name: 'Watches', description: 'Folders whose new images are submitted as they come' },
        { name: 'Uploads', description: 'Photos that do not lie in the image folders, for jobs' },
        { name: 'Webhooks', description: 'The end of a job, sent to its callback_url' },
        { name: 'Views', description: 'Regions by name, for cameras that look at the same place' },
        { name: 'Images', description: 'What lies in the image folders' },
        { name: 'Stream', description: 'Events over WebSocket' },
        { name: 'Models', description: 'Values of model_name' },
        { name: 'Cluster', description: 'Nodes, devices and workers' },
        { name: 'System', description: 'Probes, metrics and this documentation' },
      ],
    }),
  ) as object;
}

/** Generators lose the null of a map whose type is a list, or the map itself. */
function nullBesideObjects(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(nullBesideObjects);
  if (typeof node !== 'object' || node === null) return node;
  const all = Object.entries(node).map(([key, value]) => [key, nullBesideObjects(value)] as const);
  const { type, description, example, ...shape } = Object.fromEntries(all);
  if (!Array.isArray(type) || !type.includes('object')) return Object.fromEntries(all);
  return { description, example, anyOf: [{ type: 'object', ...shape }, { type: 'null' }] };
}
