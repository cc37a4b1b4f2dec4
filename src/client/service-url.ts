/** The address of a service, as a user writes it. */

export const DEFAULT_SERVICE_URL = 'http://127.0.0.1:8000';

/** Without a slash at the end. Throws `TypeError` with a sentence for anything but a plain HTTP address. */
export function readServiceUrl(text: string): string {
  const shown = text.replace(/\/\/[^/]*@/, '//...@');
  const wrong = `The address of the service is "${shown}", but it must`;
  if (!URL.canParse(text)) throw new TypeError(`${wrong} have the shape http://HOST:8000.`);
  const url = new URL(text);
  if (url.protocol !== 'http:' && url.protocol !== 'https:') {
    throw new TypeError(`${wrong} start with http:// or https://.`);
  }
  if (url.username !== '' || url.password !== '') {
    throw new TypeError(`${wrong} name no user: access is by API key.`);
  }
  if (url.search !== '' || url.hash !== '') {
    throw new TypeError(`${wrong} be a plain address, http://HOST:8000.`);
  }
  const path = url.pathname.replace(/\/+$/, '');
  if (path.endsWith('/v1')) throw new TypeError(`${wrong} end before /v1.`);
  return `${url.origin}${path}`;
}
