/** The content of the address bar: the screen, and its filters. */

export type Route =
  | { screen: 'detect' }
  | { screen: 'jobs' }
  | { screen: 'job'; jobId: string }
  /** `index` counts the images of the job from 0. */
  | { screen: 'image'; jobId: string; index: number }
  | { screen: 'watches' }
  | { screen: 'counts' }
  | { screen: 'service' };

/** Texts by name; what they mean is up to the screen. */
export type Query = Readonly<Record<string, string>>;

export interface Address {
  route: Route;
  query: Query;
}

/** `#/jobs/ID/images/17?min=40` -> its screen and filters. An unknown address is that of the first screen. */
export function readAddress(hash: string): Address {
  const [, path = '', query = ''] = /^#?\/?([^?]*)\??(.*)$/s.exec(hash) ?? [];
  return {
    route: readRoute(path.split('/').map(decoded)),
    query: Object.fromEntries(new URLSearchParams(query)),
  };
}

/** Filters that are empty are left out. */
export function hashOf(route: Route, query: Query = {}): string {
  const given = Object.entries(query).filter(([, text]) => text !== '');
  const filters = given.length === 0 ? '' : `?${new URLSearchParams(given).toString()}`;
  return `#/${pathOf(route)}${filters}`;
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

function readRoute([first, jobId = '', images, number = '']: readonly string[]): Route {
  if (first === 'service' || first === 'watches' || first === 'counts') return { screen: first };
  if (first !== 'jobs') return { screen: 'detect' };
  if (jobId === '') return { screen: 'jobs' };
  const isImage = images === 'images' && /^\d{1,9}$/.test(number);
  return isImage ? { screen: 'image', jobId, index: Number(number) } : { screen: 'job', jobId };
}

function pathOf(route: Route): string {
  switch (route.screen) {
    case 'job':
      return `jobs/${encodeURIComponent(route.jobId)}`;
    case 'image':
      return `jobs/${encodeURIComponent(route.jobId)}/images/${route.index}`;
    default:
      return route.screen;
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
