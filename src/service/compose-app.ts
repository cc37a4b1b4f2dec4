/**
 * Wires HTTP and the event stream over the ports they are given. Opens no port; `src/http/server/listen.ts` listens.
 */
import type { OpenAPIHono } from '@hono/zod-openapi';
import type { IncomingMessage } from 'node:http';
import type { WebSocket } from 'ws';
import type { AppDeps } from '../http/app-deps.js';
import type { AppEnv } from '../http/app-env.js';
import { ADAPTERS } from '../adapters/adapters.js';
import { BrowserAccess } from '../http/access/browser-access.js';
import { createHttpApp } from '../http/http-app.js';
import { detectRoutes } from '../http/routes/detect.js';
import { pictureRoutes } from '../http/routes/jobs/pictures.js';
import { jobImageRoutes } from '../http/routes/jobs/images.js';
import { createReadSettings, createReadSubmission } from '../http/routes/jobs/read-submission.js';
import { ModelCatalogue } from '../http/model-catalogue.js';
import { openApiDocument } from '../http/openapi-document.js';
import { createHideFolders } from '../answers/shown-problem.js';
import { createAddRoute, maxBodyBytesAt, type AddRoute } from '../http/route.js';
import type { RouteParts } from '../http/route-parts.js';
import { aliasRoutes } from '../http/routes/aliases.js';
import { annotatedRoutes } from '../http/routes/annotated.js';
import { clusterRoutes } from '../http/routes/cluster.js';
import { docsRoutes } from '../http/routes/docs.js';
import { healthRoutes } from '../http/routes/health.js';
import { imageRoutes } from '../http/routes/images.js';
import { jobAgreementRoutes } from '../http/routes/jobs/agreement.js';
import { changeRoutes } from '../http/routes/jobs/changes.js';
import { countRoutes } from '../http/routes/counts.js';
import { jobCountRoutes } from '../http/routes/jobs/counts.js';
import { jobRoutes } from '../http/routes/jobs/jobs.js';
import { reportRoutes } from '../http/routes/jobs/report.js';
import { resultRoutes } from '../http/routes/jobs/result.js';
import { sampleRoutes } from '../http/routes/jobs/samples.js';
import { submissionRoutes } from '../http/routes/jobs/submissions.js';
import { webhookRoutes } from '../http/routes/jobs/webhooks.js';
import { modelRoutes } from '../http/routes/models.js';
import { settingRoutes } from '../http/routes/settings.js';
import { uploadRoutes } from '../http/routes/uploads.js';
import { usageRoutes } from '../http/routes/usage.js';
import { uiRoutes } from '../http/routes/ui.js';
import { dismissalRoutes } from '../http/routes/dismissals.js';
import { placeRoutes } from '../http/routes/places.js';
import { viewRoutes } from '../http/routes/views.js';
import { cameraRoutes } from '../http/routes/cameras.js';
import { watchRoutes } from '../http/routes/watches.js';
import { addWorkerRoute } from '../http/routes/workers.js';
import { PictureBodies } from '../http/request/picture-bodies.js';
import { EventStream } from '../stream/event-stream.js';
import { STREAM_PATH, streamRoute } from '../stream/stream-route.js';

export type { AppDeps } from '../http/app-deps.js';

type RequestHead = Pick<IncomingMessage, 'method' | 'url' | 'headers'>;

export interface ComposedApp {
  app: OpenAPIHono<AppEnv>;
  /** Connections of `/v1/stream`; closed by the listening server. */
  stream: EventStream;
  openApi(): object;
  /** True for sockets that stay open at a stop until the jobs have drained. */
  outlives(socket: WebSocket): boolean;
  /** A longer body of this request is refused unread. */
  maxBodyBytes: (request: RequestHead) => number;
}

/** The routes of each resource, in the order of the documentation. */
const ROUTES: readonly ((route: AddRoute, parts: RouteParts) => void)[] = [
  detectRoutes,
  submissionRoutes,
  uploadRoutes,
  jobRoutes,
  resultRoutes,
  pictureRoutes,
  reportRoutes,
  jobImageRoutes,
  countRoutes,
  placeRoutes,
  dismissalRoutes,
  jobCountRoutes,
  sampleRoutes,
  changeRoutes,
  jobAgreementRoutes,
  webhookRoutes,
  watchRoutes,
  cameraRoutes,
  viewRoutes,
  modelRoutes,
  aliasRoutes,
  clusterRoutes,
  annotatedRoutes,
  imageRoutes,
  healthRoutes,
  settingRoutes,
  usageRoutes,
  docsRoutes,
  uiRoutes,
];

export function composeApp(deps: AppDeps): ComposedApp {
  const { config } = deps;
  const hide = createHideFolders(config);
  const access = new BrowserAccess(config);
  const catalogue = new ModelCatalogue(deps.detector);
  const pictures = new PictureBodies(config);
  const readSettings = createReadSettings(deps, catalogue);
  const readSubmission = createReadSubmission(deps, readSettings);
  const stream = new EventStream(deps, readSubmission, hide);
  const adapter = ADAPTERS[config.compat];
  const app = createHttpApp(
    deps,
    access,
    hide,
    (path) => path === STREAM_PATH || adapter?.paths.test(path) === true,
  );
  const openApi = (): object => openApiDocument(app, deps.version);
  const parts = {
    ...deps,
    hide,
    pictures,
    catalogue,
    readSettings,
    readSubmission,
    openApi,
  };
  const route = createAddRoute(app);
  for (const addRoutes of ROUTES) addRoutes(route, parts);
  adapter?.addRoutes(route, parts);
  streamRoute(route, parts, stream);
  const { gate } = deps.cluster;
  const outlives = gate === null ? () => false : addWorkerRoute(app, gate);
  const maxBodyBytes = ({ method = '', url = '', headers }: RequestHead) =>
    maxBodyBytesAt(app, method, url.split('?', 1)[0] ?? '') ??
    pictures.maxBytes(headers['content-type']) ??
    config.maxBodyBytes;
  return { app, stream, openApi, outlives, maxBodyBytes };
}
