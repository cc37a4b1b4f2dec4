/** The format of a picture, from its first bytes: as the decoder finds it (native/image/image_format.cc). */

const START = new Map<string, string>([
  ['\xFF\xD8\xFF', 'image/jpeg'],
  ['\x89PNG\r\n\x1A\n', 'image/png'],
  ['II*\0', 'image/tiff'],
  ['MM\0*', 'image/tiff'],
  ['II+\0', 'image/tiff'],
  ['MM\0+', 'image/tiff'],
]);
const HEAD_BYTES = 1_024;

/** The media type; null for a format that is not detected in. */
export function pictureType(bytes: Buffer): string | null {
  const head = bytes.toString('latin1', 0, HEAD_BYTES);
  if (head.startsWith('RIFF') && head.startsWith('WEBP', 8)) return 'image/webp';
  if (head.startsWith('ftyp', 4)) return isAvif(bytes, head) ? 'image/avif' : null;
  for (const [start, type] of START) if (head.startsWith(start)) return type;
  return null;
}

/** The first box lists the brands of the file: its major one, a version, then the others. */
function isAvif(bytes: Buffer, head: string): boolean {
  const box = head.slice(8, bytes.readUInt16BE(2));
  return (box.match(/[^]{4}/g) ?? []).some((brand) => brand === 'avif' || brand === 'avis');
}
