/** `lattice openapi`: the document of the HTTP interface, made from the routes without starting anything. */
import { loadConfig } from '../settings/config.js';
import { packageVersion } from '../base/package.js';
import { OUTPUT_FLAG, writeOutput } from './output-file.js';
import type { RegisterCommand } from './terminal.js';

const EXAMPLES = `
Examples:
  $ lattice openapi > openapi.json
  $ lattice openapi --output openapi.json`;

export const registerOpenApi: RegisterCommand = (program, terminal) => {
  program
    .command('openapi')
    .description('print the OpenAPI 3.1 document')
    .option(OUTPUT_FLAG, 'write to a file; default, and -: standard output')
    .addHelpText('after', EXAMPLES)
    .action(async ({ output }: { output?: string }) => {
      const text = JSON.stringify(await createDocument(), null, 2);
      await writeOutput([`${text}\n`], output, terminal);
    });
};

/** A port for routes that only subscribe to events: every method returns a function to unsubscribe. */
const INERT = new Proxy<object>({}, { get: () => () => () => undefined }) as never;

/** Makes the document with the default settings, so that it is the same on every machine. */
async function createDocument(): Promise<object> {
  const { composeApp } = await import('../service/compose-app.js');
  const composed = composeApp({
    config: loadConfig({}, {}),
    version: packageVersion(),
    jobs: INERT,
    uploads: INERT,
    views: INERT,
    watches: INERT,
    jobsHealth: () => Promise.resolve(null),
    detector: INERT,
    aliases: INERT,
    shadows: INERT,
    cluster: { gate: null, detector: INERT },
    clusterStatus: INERT,
    keyUse: () => Promise.resolve([]),
    serviceState: () => ({ state: 'free', reasons: [], cpuWaitRatio: 0 }),
    metrics: INERT,
    tracing: null,
    logger: INERT,
    apiKeys: null,
    draining: () => false,
    annotator: INERT,
    webhooks: INERT,
  });
  try {
    return composed.openApi();
  } finally {
    composed.stream.close();
  }
}
