/** The parts that routes are made of: the dependencies of the app, and parts of several routes. */
import type { AppDeps } from './app-deps.js';
import type { ReadSettings, ReadSubmission } from './routes/jobs/read-submission.js';
import type { ModelCatalogue } from './model-catalogue.js';
import type { HideFolders } from '../answers/shown-problem.js';
import type { PictureBodies } from './request/picture-bodies.js';

export interface RouteParts extends AppDeps {
  hide: HideFolders;
  pictures: PictureBodies;
  catalogue: ModelCatalogue;
  readSubmission: ReadSubmission;
  readSettings: ReadSettings;
  /** The OpenAPI document; complete once all routes are added. */
  openApi: () => object;
}
