/**
 * Drops files into a watched folder while the service is killed, and checks that each version that rested has exactly
 * one result; exit code 1 if not.
 *
 *   npm run bench:watches -- [--files N] [--seconds N] [--kills N] [--scans] [--seed S]
 *     [--root FOLDER [--through MOUNT]]
 *
 * `--through`: the service sees the root by this mount of it, such as one of FUSE (`bindfs FOLDER MOUNT`).
 */
import { parseArgs } from 'node:util';
import { runWatch } from './watches/run-watch.js';

const { values } = parseArgs({
  options: {
    files: { type: 'string', default: '5000' },
    seconds: { type: 'string', default: '300' },
    kills: { type: 'string', default: '20' },
    scans: { type: 'boolean', default: false },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
    root: { type: 'string' },
    through: { type: 'string' },
  },
});
const report = await runWatch({
  files: Number(values.files),
  seconds: Number(values.seconds),
  kills: Number(values.kills),
  notices: !values.scans,
  seed: Number(values.seed),
  root: values.root ?? null,
  through: values.through ?? null,
});
console.log(JSON.stringify(report, null, 2));
process.exitCode = report.violations.length === 0 ? 0 : 1;
