// Run by `scripts/bundle.mjs` with the file names of the programs: stores the code of each bundle. That of functions is
// stored only where they have run, so this runs the first program: its command that makes the OpenAPI document uses most
// of what a start does, and neither the addon nor a folder.
const { readdirSync } = require('node:fs');
const { devNull } = require('node:os');
const { join } = require('node:path');

const BUNDLE = join(__dirname, '../dist/bundle');
const { load, storeCode } = require(join(BUNDLE, 'load.cjs'));

const programs = process.argv.splice(2);
const others = readdirSync(BUNDLE).filter(
  (name) => name.endsWith('.cjs') && name !== 'load.cjs' && !programs.includes(name),
);

process.argv.push('openapi', '--output', devNull);
load(programs[0]);
process.once('beforeExit', () => {
  others.forEach(load);
  storeCode(programs);
});
