/** The protocol of another program: routes beside the service's own, which make the same detections. */
import type { AddRoute } from '../http/route.js';
import type { RouteParts } from '../http/route-parts.js';

export interface Adapter {
  /** Paths of the adapter's routes. They check keys themselves, because each program sends its key in another way. */
  paths: RegExp;
  addRoutes: (route: AddRoute, parts: RouteParts) => void;
}
