/** Every command of `lattice`, in the order of its help. A new one is a file and a line here. */
import { registerDetect } from './detect.js';
import { registerDoctor } from './doctor.js';
import { registerEngine } from './engine.js';
import { registerJob } from './job.js';
import { registerModel } from './model.js';
import { registerOpenApi } from './openapi.js';
import type { RegisterCommand } from './register-command.js';
import { registerServe } from './serve.js';

export const COMMANDS: readonly RegisterCommand[] = [
  registerServe,
  registerDetect,
  registerJob,
  registerDoctor,
  registerEngine,
  registerModel,
  registerOpenApi,
];
