/** Pictures of the service in components. */
import { useEffect, useState } from 'preact/hooks';
import { api } from '../session/session.js';
import { PictureUrls } from './picture-urls.js';

const urls = new PictureUrls((path, signal) => api.picture(path, signal));

export interface ShownPicture {
  /** Null while it loads, and after a fault. */
  url: string | null;
  fault: unknown;
}

const NONE: ShownPicture = { url: null, fault: null };

/** `width` gives a thumbnail; null the picture as it is. */
export function imageFilePath(path: string, width: number | null): string {
  const size = width === null ? '' : `&width=${width}`;
  return `/v1/images/file?path=${encodeURIComponent(path)}${size}`;
}

/** The picture at a route of the service; null asks for none. */
export function usePicture(route: string | null): ShownPicture {
  const [shown, setShown] = useState<ShownPicture & { route: string | null }>({ route, ...NONE });
  useEffect(() => {
    if (route === null) return;
    const lease = urls.lease(route);
    let gone = false;
    lease.url.then(
      (url) => {
        if (!gone) setShown({ route, url, fault: null });
      },
      (fault: unknown) => {
        if (!gone) setShown({ route, url: null, fault });
      },
    );
    return () => {
      gone = true;
      lease.release();
    };
  }, [route]);
  return shown.route === route ? shown : NONE;
}
