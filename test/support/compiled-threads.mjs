// Preloaded in each process of the tests. Node cannot load TypeScript: a thread or process that the sources start from
// `src/NAME.js` runs `dist/NAME.js` instead, which set-up has brought up to date before the first test. A hook of the
// module loader would do it too, at the price of one more thread per thread.
import childProcess from 'node:child_process';
import { syncBuiltinESMExports } from 'node:module';
import { fileURLToPath } from 'node:url';
import threads from 'node:worker_threads';

const SOURCES = new URL('../../src/', import.meta.url);
const COMPILED = new URL('../../dist/', import.meta.url);
const [SOURCE_FOLDER, COMPILED_FOLDER] = [SOURCES, COMPILED].map((url) => fileURLToPath(url));

const { fork } = childProcess;
childProcess.fork = (path, ...rest) => fork(path.replace(SOURCE_FOLDER, COMPILED_FOLDER), ...rest);
threads.Worker = class extends threads.Worker {
  constructor(entry, options) {
    const isUrl = entry instanceof URL;
    super(isUrl ? new URL(entry.href.replace(SOURCES.href, COMPILED.href)) : entry, options);
  }
};
syncBuiltinESMExports();
