/** Text that was sent where a picture belongs: which mistake it is. */
import { LatticeError } from '../../api/errors.js';
import { IMAGE_NAME } from '../../files/listing/image-names.js';
import { shorten } from './validation.js';

const HEAD_BYTES = 1_024;
const TEXT = /^[^\p{Cc}\ufffd]+$/u;
/** JPEG, PNG, WebP (RIFF), TIFF, BMP, and AVIF or HEIC, whose files begin with the length of a short first box. */
const BASE64 = /^(?:data:[\w/+.-]*;base64,|\/9j\/|iVBORw0KGgo|UklGR|SUkqA|TU0AK|Qk0|AAAA.{4}m[dZ])/;

/**
 * Throws `unsupported_image_format` with what to do; other text is for the decoder to refuse. `where` begins a
 * sentence.
 */
export function refuseText(picture: Buffer, where: string): void {
  const head = picture.toString('utf8', 0, HEAD_BYTES).trim();
  const [line = ''] = head.split(/[\r\n]/);
  if (!TEXT.test(line)) return;
  const mistake = mistakeOf(line, head === line && picture.length <= HEAD_BYTES);
  if (mistake === null) return;
  throw new LatticeError('unsupported_image_format', `${where} holds ${mistake}`);
}

function mistakeOf(line: string, isWhole: boolean): string | null {
  if (BASE64.test(line)) return 'a picture as base64 text: send the bytes of the file.';
  if (line.startsWith('{')) return 'JSON: send it with Content-Type: application/json.';
  if (!isWhole || !IMAGE_NAME.test(line)) return null;
  const name = shorten(line);
  return (
    `the text '${name}' and no picture: with curl, -F 'image=@${name}' or --data-binary '@${name}' sends the file. ` +
    'An image of the image folders is named in JSON, as image_path.'
  );
}
