// Preloaded in each process of the tests. Node cannot load TypeScript: a thread or process that the sources start runs
// the compiled file instead, which set-up has brought up to date before the first test.
import { register } from 'node:module';

register('./compiled-file.mjs', import.meta.url);
