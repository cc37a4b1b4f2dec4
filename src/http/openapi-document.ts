/** The OpenAPI 3.1 document, made from the routes that are registered. */
import type { OpenAPIHono } from '@hono/zod-openapi';
import type { AppEnv } from './app-env.js';
import { jobDigestSchema, jobResultSchema } from './jobs/job.schema.js';
import { z } from '@hono/zod-openapi';

const webhookSchema = z
  .object({
    type: z.enum(['job.completed', 'job.failed']),
    timestamp: z.string().openapi({ format: 'date-time' }),
    data: z.union([jobResultSchema, jobDigestSchema]),
  })
  .openapi('WebhookBody');

/** Security schemes and the webhook, which no route brings along. Call before the document is made. */
export function registerComponents(app: OpenAPIHono<AppEnv>): void {
  const registry = app.openAPIRegistry;
  registry.registerComponent('securitySchemes', 'bearer', { type: 'http', scheme: 'bearer' });
  registry.registerComponent('securitySchemes', 'apiKey', {
    type: 'apiKey',
    in: 'header',
    name: 'X-API-Key',
  });
  registry.registerWebhook({
    method: 'post',
    path: 'job.ended',
    operationId: 'jobEnded',
    summary: 'Sent to callback_url when a job completes or fails (Standard Webhooks)',
    tags: ['Jobs'],
    request: { body: { content: { 'application/json': { schema: webhookSchema } } } },
    responses: { 200: { description: 'Any 2xx is success; everything else is tried again' } },
  });
}

export function openApiDocument(app: OpenAPIHono<AppEnv>, version: string): object {
  return app.getOpenAPI31Document({
    openapi: '3.1.0',
    info: {
      title: 'lattice-core',
      version,
      description:
        'Object detection (cars and other vehicles) on images of a shared volume. ' +
        'Every refused answer is an RFC 9457 problem. Timestamps are Unix seconds.',
      license: { name: 'Apache-2.0' },
    },
    servers: [{ url: '/' }],
    // An empty requirement: without configured keys there is no authentication.
    security: [{}, { bearer: [] }, { apiKey: [] }],
    tags: [
      { name: 'Inference', description: 'One image, answered at once' },
      { name: 'Jobs', description: 'Many images, durable' },
      { name: 'Stream', description: 'Events over WebSocket' },
      { name: 'Models' },
      { name: 'Cluster' },
      { name: 'System' },
    ],
  });
}
