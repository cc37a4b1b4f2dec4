/** The compiled service on a free port, but a picture named so kills the process when it is decoded. */
import { loadConfig } from '../../dist/settings/config.js';
import { runService } from '../../dist/main.js';

await runService(loadConfig({ port: 0 }), { abortOnPathSuffix: 'poison.png' });
