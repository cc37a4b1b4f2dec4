/**
 * A worker whose images take no time: what is left is the way to it and back. `tsx instant-worker.ts ws://HOST:PORT
 * BUILD`
 */
import { ServiceLink } from '../../src/execution/far/service-link.js';
import { ScriptedDetector } from '../../test/support/scripted-detector.js';

const [serviceUrl = '', build = ''] = process.argv.slice(2);
const log = () => undefined;
const detector = new ScriptedDetector();
await new ServiceLink({
  serviceUrl,
  token: () => null,
  build,
  workerId: 'instant',
  nodeId: 'here',
  roots: () => Promise.resolve([]),
  detector,
  modelDigests: () => ({}),
  maxImageBytes: 64 * 1024 * 1024,
  logger: { debug: log, info: log, warn: log, error: log },
}).serve();
