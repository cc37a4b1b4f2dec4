/** Titles of jobs in lists, and the texts that jobs are found by. */
import { foldText } from '../base/fold-text.js';
import type { Job, TypedPaths } from './job.js';

/** Longer metadata is not searched for a title: a list has many jobs. */
const LONGEST_METADATA = 4_096;
/** Limit of the typed paths, in characters. */
const LONGEST_PATHS = 2_000;
/** The longest title that the order by title takes into account. */
const LONGEST_TITLE = 200;

type Titled = Pick<Job, 'spec'>;

/** The name, else the title or name of the metadata, else what was typed. */
export function titleOf({ spec: { labels, metadata, typed } }: Titled): string {
  return labels.name ?? metadataTitle(metadata) ?? titleOfPaths(typed);
}

/**
 * The given paths, as many as are stored. A path that stands for a whole upload or image folder says nothing, and what
 * lies there takes its place.
 */
export function typedPaths(given: readonly string[], images: readonly string[] = []): TypedPaths {
  const isAll = given.length === 1 && given[0] === '.' && images.length > 0;
  const paths = isAll ? [...new Set(images.map((path) => path.split('/', 1).join()))] : given;
  const stored = paths.slice(0, 1);
  let length = stored.join('').length;
  for (const path of paths.slice(1)) {
    length += path.length;
    if (length > LONGEST_PATHS) break;
    stored.push(path);
  }
  return { paths: stored, count: paths.length };
}

export function titleKey(job: Titled): string {
  return foldText(titleOf(job).slice(0, LONGEST_TITLE));
}

export function searchText({ spec: { labels, metadata, typed } }: Titled): string {
  const { name, tags, notes } = labels;
  const texts = [name, ...typed.paths, ...tags, notes, metadataTitle(metadata)];
  return foldText(texts.filter((text) => text !== null).join('\n'));
}

export function titleOfPaths({ paths: [first = ''], count }: TypedPaths): string {
  return count > 1 ? `${first} and ${count - 1} more` : first;
}

function metadataTitle(metadata: string | null): string | null {
  if (metadata === null || metadata.length > LONGEST_METADATA) return null;
  const { title, name } = JSON.parse(metadata) as Record<string, unknown>;
  for (const text of [title, name]) if (typeof text === 'string' && text !== '') return text;
  return null;
}
