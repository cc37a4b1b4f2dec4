/** MODEL THREADS PRECISION: prints images per second of the network alone. The environment may limit instructions. */
import type { FloatPrecision } from '../../src/api/schemas/model.js';
import { setting } from '../setting.js';
import { ratesAlone } from './alone.js';

const [modelPath = '', threads = '', precision = ''] = process.argv.slice(2);
const { network } = await ratesAlone({ ...setting(), modelPath }, 'async', 'many', {
  threads: Number(threads),
  precision: precision as FloatPrecision,
});
console.log(network);
