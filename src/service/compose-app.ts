/** Wires HTTP and the event stream over the ports they are given. Opens no port; `src/http/serve.ts` listens. */
import type { OpenAPIHono } from '@hono/zod-openapi';
import { addAnnotatedRoute } from '../http/annotated/annotated.routes.js';
import type { AppDeps } from '../http/app-deps.js';
import type { AppEnv } from '../http/app-env.js';
import { createBrowserAccess } from '../http/browser-access.js';
import type { WebSocket } from 'ws';
import { addClusterRoute } from '../http/cluster/cluster.routes.js';
import { addWorkerRoute } from '../http/cluster/worker.route.js';
import { addDeepStackRoutes } from '../http/deepstack/deepstack.routes.js';
import { addDocsRoutes } from '../http/docs/docs.routes.js';
import { createHttpApp } from '../http/http-app.js';
import { createImageHandlers } from '../http/images/image.handlers.js';
import { addImageRoutes } from '../http/images/image.routes.js';
import { createDetectHandler } from '../http/inference/detect.handler.js';
import { addDetectRoute } from '../http/inference/detect.routes.js';
import { createJobImagesHandlers } from '../http/jobs/job-images.handlers.js';
import { addJobImagesRoutes } from '../http/jobs/job-images.routes.js';
import { createJobHandlers } from '../http/jobs/job.handlers.js';
import { addJobRoutes } from '../http/jobs/job.routes.js';
import { createRetryHandler } from '../http/jobs/retry.handler.js';
import { addRetryRoute } from '../http/jobs/retry.route.js';
import { createReadSubmission } from '../http/jobs/submit-request.js';
import { createWebhookHandlers } from '../http/jobs/webhook.handlers.js';
import { addWebhookRoutes } from '../http/jobs/webhook.routes.js';
import { ModelCatalogue } from '../http/models/model-catalogue.js';
import { addModelRoute } from '../http/models/model.routes.js';
import { openApiDocument, registerComponents } from '../http/openapi-document.js';
import { createHideFolders } from '../http/problem.js';
import { addHealthRoutes } from '../http/system/health.routes.js';
import { addSettingsRoute } from '../http/system/settings.route.js';
import { addUiRoutes } from '../http/ui/ui.routes.js';
import { Uploads } from '../http/uploads/uploads.js';
import { EventStream } from '../stream/event-stream.js';
import { addStreamRoute } from '../stream/stream.route.js';

export type { AppDeps } from '../http/app-deps.js';

export interface ComposedApp {
  app: OpenAPIHono<AppEnv>;
  /** Connections of `/v1/stream`; closed by the listening server. */
  stream: EventStream;
  openApi(): object;
  /** True for sockets that stay open at a stop until the jobs have drained. */
  outlives(socket: WebSocket): boolean;
  /** A longer request body of this Content-Type is refused unread. */
  maxBodyBytes: (contentType: string | undefined) => number;
}

export function composeApp(deps: AppDeps): ComposedApp {
  const { config } = deps;
  const hide = createHideFolders([...config.imageRoots, config.modelsDir, config.dataDir]);
  const access = createBrowserAccess(config);
  const catalogue = new ModelCatalogue(deps.detector);
  const uploads = new Uploads(config, access);
  const readSubmission = createReadSubmission(deps, catalogue);
  const stream = new EventStream(deps, readSubmission, hide);
  const table = createHttpApp(deps, access, hide);
  const openApi = (): object => openApiDocument(table.app, deps.version);
  addDetectRoute(table, createDetectHandler(deps, catalogue, uploads));
  if (config.compat === 'deepstack') addDeepStackRoutes(table, deps, uploads, hide);
  addJobRoutes(table, createJobHandlers(deps, readSubmission, hide));
  addJobImagesRoutes(table, createJobImagesHandlers(deps, hide));
  addRetryRoute(table, createRetryHandler(deps, catalogue));
  addWebhookRoutes(table, createWebhookHandlers(deps));
  addStreamRoute(table, deps, stream, access);
  addModelRoute(table, deps.detector, hide);
  addClusterRoute(table, deps);
  const outlives = deps.gate === undefined ? () => false : addWorkerRoute(table, deps.gate);
  addAnnotatedRoute(table, deps);
  addImageRoutes(table, createImageHandlers(deps));
  addHealthRoutes(table, deps);
  addSettingsRoute(table, deps);
  addDocsRoutes(table, openApi);
  addUiRoutes(table);
  registerComponents(table.app);
  const maxBodyBytes = (type: string | undefined) => uploads.maxBytes(type) ?? config.maxBodyBytes;
  return { app: table.app, stream, openApi, outlives, maxBodyBytes };
}
