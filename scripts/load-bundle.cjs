// `scripts/bundle.mjs` copies it to dist/bundle/load.cjs. Loads a bundle with the code that V8 has compiled of it before,
// which lies beside it: compiling took a third of the CPU time that a start spends on modules. Code of another version
// of Node, or for other flags of V8, is refused by V8, and the bundle is compiled.
const { createHash } = require('node:crypto');
const { readFileSync, writeFileSync } = require('node:fs');
const { wrap } = require('node:module');
const { join } = require('node:path');
const { Script } = require('node:vm');

const DIGEST_BYTES = 32;

const modules = new Map();
const scripts = new Map();

const codePath = (path) => `${path}.code`;
const digestOf = (bytes, code) => createHash('sha256').update(bytes).update(code).digest();

/**
 * Undefined where none was stored for these bytes. V8 compares only their length, and a changed byte of the code would
 * end the process: a digest of both stands before the code.
 */
function storedCode(path, bytes) {
  try {
    const stored = readFileSync(codePath(path));
    const code = stored.subarray(DIGEST_BYTES);
    return digestOf(bytes, code).equals(stored.subarray(0, DIGEST_BYTES)) ? code : undefined;
  } catch {
    return undefined;
  }
}

function scriptOf(path) {
  const bytes = readFileSync(path);
  const script = new Script(wrap(bytes.toString('utf8')), {
    filename: path,
    cachedData: storedCode(path, bytes),
  });
  scripts.set(path, script);
  return script;
}

/** The exports of a bundle of this folder, by its file name. */
function load(name) {
  const path = join(__dirname, name);
  const known = modules.get(path);
  if (known !== undefined) return known.exports;
  const module = { exports: {} };
  modules.set(path, module);
  const run = scriptOf(path).runInThisContext();
  const requireFrom = (id) => (id.startsWith('./') ? load(id) : require(id));
  run.call(module.exports, module.exports, requireFrom, module, path, __dirname);
  return module.exports;
}

/** Stores the code of these bundles and of all that were loaded, with the functions that have run until now. */
function storeCode(names) {
  const paths = names.map((name) => join(__dirname, name));
  paths.filter((path) => !scripts.has(path)).forEach(scriptOf);
  for (const [path, script] of scripts) {
    const code = script.createCachedData();
    writeFileSync(codePath(path), Buffer.concat([digestOf(readFileSync(path), code), code]));
  }
}

module.exports = { load, storeCode };
