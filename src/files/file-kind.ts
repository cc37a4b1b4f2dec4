/** The kind of a file that detection does not read, in a word for people: by its name, and by its first bytes. */
import { PICTURE_FORMATS, pictureType } from './picture-format.js';

interface Kind {
  name: string;
  endings: readonly string[];
}

const kind = (name: string, endings: string): Kind => ({ name, endings: endings.split(' ') });

/** Pictures in formats that are not read. */
export const PICTURES_NOT_READ: readonly Kind[] = [
  kind('HEIC', 'heic heif hif'),
  kind('GIF', 'gif'),
  kind('JPEG XL', 'jxl'),
  kind('JPEG 2000', 'jp2 j2k jpx'),
  kind('JPEG XR', 'jxr'),
  kind('SVG', 'svg'),
  kind('PSD', 'psd'),
  kind(
    'camera raw',
    'raw 3fr arw cr2 cr3 crw dcr dng erf kdc mef mrw nef nrw orf pef raf rw2 rwl sr2 srf srw x3f',
  ),
];

const VIDEO = kind('video', '3gp avi flv m2ts m4v mkv mov mp4 mpeg mpg mts webm wmv');
const OTHER = 'other file';
const EMPTY = 'empty file';

const READ = new Set(PICTURE_FORMATS.flatMap(({ extensions }) => extensions));
const BY_ENDING = new Map(
  [...PICTURES_NOT_READ, VIDEO].flatMap(({ name, endings }) =>
    endings.map((ending) => [ending, name] as const),
  ),
);

/** Null for the name of a picture that is read. */
export function kindByName(name: string): string | null {
  const ending = /\.([^./]+)$/.exec(name)?.[1]?.toLowerCase() ?? '';
  return READ.has(ending) ? null : (BY_ENDING.get(ending) ?? OTHER);
}

/** Brands of ISO media files that are pictures; `avif` is told before. */
const HEIF_BRAND = /^(?:hei[cfmsvx]|hev[cmsx]|mif[12]|msf1)$/;

/** Null for a picture that is read. `head` is the first kilobyte, or the whole of a shorter file. */
export function kindByBytes(head: Buffer): string | null {
  if (pictureType(head) !== null) return null;
  if (head.length === 0) return EMPTY;
  const text = head.toString('latin1');
  if (text.startsWith('ftyp', 4)) {
    const brand = text.slice(8, 12);
    if (HEIF_BRAND.test(brand)) return 'HEIC';
    if (brand === 'jxl ') return 'JPEG XL';
    return brand.startsWith('crx') ? 'camera raw' : VIDEO.name;
  }
  if (text.startsWith('GIF8')) return 'GIF';
  if (text.startsWith('8BPS')) return 'PSD';
  if (text.startsWith('\xFF\x0A') || text.startsWith('JXL ', 4)) return 'JPEG XL';
  if (text.startsWith('jP  ', 4)) return 'JPEG 2000';
  if (text.startsWith('\x1A\x45\xDF\xA3') || text.startsWith('AVI ', 8)) return VIDEO.name;
  return /<svg[\s>]/i.test(text) ? 'SVG' : OTHER;
}
