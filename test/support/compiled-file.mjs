/** Hook of Node's module loader: the entry `src/NAME.js` of a thread or process is `dist/NAME.js`. */
const SOURCES = new URL('../../src/', import.meta.url).href;
const COMPILED = new URL('../../dist/', import.meta.url).href;

export function resolve(specifier, context, next) {
  const isEntry = specifier.startsWith(SOURCES) && specifier.endsWith('.js');
  return next(isEntry ? COMPILED + specifier.slice(SOURCES.length) : specifier, context);
}
