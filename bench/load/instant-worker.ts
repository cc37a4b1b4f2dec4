/** A worker whose images take no time: what is left is the way to it and back. `SERVICE_URL=ws://... tsx instant-worker.ts` */
import { ServiceLink } from '../../src/cluster/worker/service-link.js';
import { ScriptedDetector } from '../../test/support/scripted-detector.js';
import { BUILD } from '../../test/support/worker-rig.js';

const log = () => undefined;
const detector = new ScriptedDetector();
await new ServiceLink({
  serviceUrl: process.env.SERVICE_URL ?? '',
  token: () => null,
  build: BUILD,
  workerId: 'instant',
  nodeId: 'here',
  roots: () => Promise.resolve([]),
  detector,
  logger: { debug: log, info: log, warn: log, error: log },
}).serve();
