// The whole test run: static checks, native unit tests, then the TypeScript suite through the real addon.
// What a machine cannot run is named with the reason.
import { spawn } from 'node:child_process';
import { ROOT } from './setup.mjs';
