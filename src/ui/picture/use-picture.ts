/** Pictures of the service in components. */
import { useContext, useEffect, useState } from 'preact/hooks';
import { service } from '../session/session.js';
import { PictureUrls } from './picture-urls.js';
import { UploadOfPictures } from './upload-context.js';

/** Kinds that browsers show themselves; of others the service makes a JPEG. */
const SHOWN_BY_BROWSERS = /\.(?:jpe?g|png|webp|avif)$/i;
const LARGE = 2048;

const urls = new PictureUrls((path, width, signal, crop, upload) =>
  service.picture(path, width, { signal, crop, upload }),
);

export interface ShownPicture {
  /** Null while it loads, and after a fault. */
  url: string | null;
  fault: unknown;
}

const NONE: ShownPicture = { url: null, fault: null };

/** A picture of the image folders, or of the upload around it, as large as it is. */
export function useLargePicture(path: string | null): ShownPicture {
  return usePicture(path, path === null || SHOWN_BY_BROWSERS.test(path) ? undefined : LARGE);
}

/** `width` gives a thumbnail, `crop` one of a part of it; a `path` of null asks for none. */
export function usePicture(path: string | null, width?: number, crop?: string): ShownPicture {
  const [shown, setShown] = useState<ShownPicture & { of: string | null }>({ of: null, ...NONE });
  const upload = useContext(UploadOfPictures);
  const key = path === null ? null : `${path} ${crop ?? ''} ${upload ?? ''}`;
  useEffect(() => {
    if (path === null) return;
    const picture = urls.acquire(path, width, crop, upload);
    let gone = false;
    picture.url.then(
      (url) => {
        if (!gone) setShown({ of: key, url, fault: null });
      },
      (fault: unknown) => {
        if (!gone) setShown({ of: key, url: null, fault });
      },
    );
    return () => {
      gone = true;
      picture.release();
    };
  }, [path, width, crop, upload]);
  return key !== null && shown.of === key ? shown : NONE;
}
