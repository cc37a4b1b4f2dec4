/** The content of the address bar: the view, and its filters. */

export type Place =
  | { view: 'detect' }
  | { view: 'jobs' }
  | { view: 'job'; jobId: string }
  /** `index` counts the images of the job from 0. */
  | { view: 'image'; jobId: string; index: number }
  | { view: 'watches' }
  | { view: 'service' };

/** Texts by name; what they mean is up to the view. */
export type Query = Readonly<Record<string, string>>;

export interface Address {
  place: Place;
  query: Query;
}

/** `#/jobs/ID/images/17?min=40` -> its view and filters. An unknown address is that of the first view. */
export function readAddress(hash: string): Address {
  const [, path = '', query = ''] = /^#?\/?([^?]*)\??(.*)$/s.exec(hash) ?? [];
  return {
    place: readPlace(path.split('/').map(decoded)),
    query: Object.fromEntries(new URLSearchParams(query)),
  };
}

/** Filters that are empty are left out. */
export function hashOf(place: Place, query: Query = {}): string {
  const given = Object.entries(query).filter(([, text]) => text !== '');
  const filters = given.length === 0 ? '' : `?${new URLSearchParams(given).toString()}`;
  return `#/${pathOf(place)}${filters}`;
}

/** Names in one text: with commas between them, as JSON where one has a comma itself. */
export function listText(names: readonly string[]): string {
  const isPlain = names.every((name) => !name.includes(',') && !name.startsWith('['));
  return isPlain ? names.join(',') : JSON.stringify(names);
}

/** The names of `listText`; people type such texts too, so anything is a list. */
export function listOf(text = ''): string[] {
  if (text.startsWith('[')) {
    try {
      const list = JSON.parse(text) as unknown[];
      return list.filter((name) => typeof name === 'string');
    } catch {
      return [text];
    }
  }
  return text.split(',').filter((name) => name !== '');
}

function readPlace([first, jobId = '', images, number = '']: readonly string[]): Place {
  if (first === 'service' || first === 'watches') return { view: first };
  if (first !== 'jobs') return { view: 'detect' };
  if (jobId === '') return { view: 'jobs' };
  const isImage = images === 'images' && /^\d{1,9}$/.test(number);
  return isImage ? { view: 'image', jobId, index: Number(number) } : { view: 'job', jobId };
}

function pathOf(place: Place): string {
  switch (place.view) {
    case 'job':
      return `jobs/${encodeURIComponent(place.jobId)}`;
    case 'image':
      return `jobs/${encodeURIComponent(place.jobId)}/images/${place.index}`;
    default:
      return place.view;
  }
}

/** People type addresses: text that is not an escape sequence stays unchanged. */
function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
