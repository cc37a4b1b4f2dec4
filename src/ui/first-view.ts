/** Files that a browser loads before it shows the first view, and the limit of their size. */
import { gzipSync } from 'node:zlib';
import type { Plugin } from 'vite';

const KIB = 1024;
export const MOST_SCRIPT = 45 * KIB;
export const MOST_FONT = 48 * KIB;

export interface BuiltFile {
  fileName: string;
  content: string | Uint8Array;
  /** Modules that load with this one. */
  imports: readonly string[];
  isEntry: boolean;
}

export interface FirstView {
  /** Bytes of the scripts after gzip. */
  script: number;
  /** Bytes of the fonts, which are compressed files. */
  font: number;
}

export function firstViewOf(files: readonly BuiltFile[]): FirstView {
  const byName = new Map(files.map((file) => [file.fileName, file]));
  const loaded = new Set<BuiltFile>();
  const load = (file: BuiltFile | undefined): void => {
    if (file === undefined || loaded.has(file)) return;
    loaded.add(file);
    for (const name of file.imports) load(byName.get(name));
  };
  for (const file of files) if (file.isEntry) load(file);
  const sum = (sizes: number[]) => sizes.reduce((all, size) => all + size, 0);
  const fonts = files.filter(({ fileName }) => fileName.endsWith('.woff2'));
  return {
    script: sum([...loaded].map(({ content }) => gzipSync(content).length)),
    font: sum(fonts.map(({ content }) => content.length)),
  };
}

/** Fails the build of a page that is larger. */
export function firstViewBudget(): Plugin {
  return {
    name: 'first-view-budget',
    generateBundle(_options, bundle) {
      const files = Object.values(bundle).map((output) => ({
        fileName: output.fileName,
        content: output.type === 'chunk' ? output.code : output.source,
        imports: output.type === 'chunk' ? output.imports : [],
        isEntry: output.type === 'chunk' && output.isEntry,
      }));
      const { script, font } = firstViewOf(files);
      if (script === 0 || font === 0) this.error('The first view has no script or no font.');
      if (script > MOST_SCRIPT) {
        this.error(
          `The first view loads ${script} bytes of script (gzip), at most ${MOST_SCRIPT}.`,
        );
      }
      if (font > MOST_FONT) {
        this.error(`The fonts have ${font} bytes, at most ${MOST_FONT}.`);
      }
      this.info(`first view: script ${script} bytes (gzip), font ${font} bytes`);
    },
  };
}
