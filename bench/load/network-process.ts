/** Prints images per second of the network alone: MODEL THREADS. The environment may limit the instructions. */
import { setting } from '../setting.js';
import { ratesAlone } from './alone.js';

const [modelPath = '', threads = ''] = process.argv.slice(2);
const at = { ...setting(), modelPath };
const { network } = await ratesAlone(at, 'async', 'many', Number(threads));
console.log(network);
