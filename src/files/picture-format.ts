/** The formats that are detected in, by their first bytes: as the decoder finds them (native/image/image_format.cc). */

export interface PictureFormat {
  name: string;
  /** Media type. */
  type: string;
  /** Extensions of the names of such files. */
  extensions: readonly string[];
  isFormat: (head: string) => boolean;
}

const startsWith =
  (...starts: string[]) =>
  (head: string) =>
    starts.some((start) => head.startsWith(start));

export const PICTURE_FORMATS: readonly PictureFormat[] = [
  {
    name: 'JPEG',
    type: 'image/jpeg',
    extensions: ['jpg', 'jpeg', 'jpe', 'jfif', 'mpo'],
    isFormat: startsWith('\xFF\xD8\xFF'),
  },
  {
    name: 'PNG',
    type: 'image/png',
    extensions: ['png'],
    isFormat: startsWith('\x89PNG\r\n\x1A\n'),
  },
  {
    name: 'WebP',
    type: 'image/webp',
    extensions: ['webp'],
    isFormat: (head) => head.startsWith('RIFF') && head.startsWith('WEBP', 8),
  },
  {
    name: 'TIFF',
    type: 'image/tiff',
    extensions: ['tif', 'tiff'],
    isFormat: startsWith('II*\0', 'MM\0*', 'II+\0', 'MM\0+'),
  },
  { name: 'AVIF', type: 'image/avif', extensions: ['avif'], isFormat: isAvif },
  // Text may start with the same two letters, but has no zeros: the upper bytes of a header's size.
  {
    name: 'BMP',
    type: 'image/bmp',
    extensions: ['bmp'],
    isFormat: (head) => head.startsWith('BM') && head.startsWith('\0\0', 16),
  },
];

/** The formats in words for messages: "JPEG, PNG, WebP, TIFF, AVIF and BMP". */
export const PICTURE_FORMAT_NAMES = new Intl.ListFormat('en-GB').format(
  PICTURE_FORMATS.map(({ name }) => name),
);

const HEAD_BYTES = 1_024;

/** The media type; null for a format that is not detected in. */
export function pictureType(bytes: Buffer): string | null {
  const head = bytes.toString('latin1', 0, HEAD_BYTES);
  return PICTURE_FORMATS.find(({ isFormat }) => isFormat(head))?.type ?? null;
}

/** The first box lists the brands of the file: its major one, a version, then the others. */
function isAvif(head: string): boolean {
  if (!head.startsWith('ftyp', 4)) return false;
  const box = head.slice(8, (head.charCodeAt(2) << 8) | head.charCodeAt(3));
  const [major, , ...others] = box.match(/[^]{4}/g) ?? [];
  return [major, ...others].some((brand) => brand === 'avif' || brand === 'avis');
}
