/**
 * Disturbs a service for a time and says what it broke; exit code 1 if anything.
 *
 *   npm run chaos -- [--minutes N] [--seed S]
 */
import { parseArgs } from 'node:util';
import { runChaos } from './chaos/run-chaos.js';

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '2' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
  },
});
const report = await runChaos({ seconds: Number(values.minutes) * 60, seed: Number(values.seed) });
console.log(JSON.stringify(report, null, 2));
process.exitCode = report.violations.length === 0 ? 0 : 1;
