// Layers of native/: a folder includes itself and those above it in native/CMakeLists.txt only. Another root may
// follow.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const native = join(process.argv[2] ?? join(import.meta.dirname, '..'), 'native');
const list = readFileSync(join(native, 'CMakeLists.txt'), 'utf8').replace(/#.*/g, '');
const order = [...list.matchAll(/add_subdirectory\((\w+)\)/g)].map(([, folder]) => folder);
const faults = [];
let includes = 0;

const entries = readdirSync(native, { recursive: true, withFileTypes: true });
for (const entry of entries.filter((each) => each.isFile() && /\.(h|cc|cu)$/.test(each.name))) {
  const file = join(entry.parentPath, entry.name).slice(native.length + 1);
  const folder = file.split('/')[0];
  // A folder without a line could include anything.
  if (!order.includes(folder)) faults.push(`native/${file}: CMakeLists.txt adds no ${folder}`);
  const text = readFileSync(join(native, file), 'utf8');
  for (const [, used] of text.matchAll(/^\s*#\s*include\s*["<]native\/(\w+)\//gm)) {
    includes += 1;
    if (!order.includes(used) || order.indexOf(used) > order.indexOf(folder)) {
      faults.push(`native/${file}: ${folder} may not include ${used}`);
    }
  }
}

for (const fault of faults) console.error(fault);
if (includes === 0) console.error(`${native}: no includes found, so nothing was checked`);
process.exitCode = faults.length > 0 || includes === 0 ? 1 : 0;
if (process.exitCode === 0) console.log(`native/ keeps its layers (${includes} includes).`);
