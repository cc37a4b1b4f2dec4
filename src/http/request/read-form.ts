/** `multipart/form-data` with one picture in the field `image`; every other field is a text. */
import type { Readable } from 'node:stream';
import { Busboy, type BusboyFileStream, type BusboyInstance } from '@fastify/busboy';
import { LatticeError } from '../../api/errors.js';
import { shorten, validationFailed } from './validation.js';
import { watchEnd, type ArrivingPicture } from './read-body.js';

export const IMAGE_FIELD = 'image';
/** More than the fields and the headers of all parts need. */
export const FORM_OVERHEAD = 256 * 1024;
const MAX_FIELDS = 24;
const LIMITS = {
  fields: MAX_FIELDS,
  parts: MAX_FIELDS + 2,
  // Regions of many points.
  fieldSize: 128 * 1024,
  fieldNameSize: 100,
  headerPairs: 32,
};
const MAX_NAME_BYTES = 255;
const LONE_SURROGATE = /\p{Surrogate}/u;

export interface Form {
  /** Base name that the form gives the picture; `image` where it gives none or a longer one than 255 bytes. */
  name: string;
  /** Text fields in their order. */
  fields: [string, string][];
}

/**
 * Fields may come before the picture or after it. Rejects with `bad_request` for a body that is no complete form,
 * `validation_failed` for a form with other fields than these, or with what `picture` throws; the stream then stands
 * still.
 */
export function readForm(body: Readable, type: string, picture: ArrivingPicture): Promise<Form> {
  return new Promise((resolve, reject) => {
    const parser = openParser(type);
    const fields: Form['fields'] = [];
    let name: string | null = null;
    const fail = (error: LatticeError) => {
      stop();
      body.unpipe(parser).pause();
      reject(error);
    };
    const stop = watchEnd(body, fail);
    parser.on('field', (field, text, fieldCut, textCut) => {
      if (fieldCut || textCut) fail(wrongField(field, `Field '${shorten(field)}' is too long.`));
      else fields.push([field, text]);
    });
    parser.on('file', (field, stream, file) => {
      // A body that ends early is an error of the parser too.
      stream.on('error', () => undefined);
      if (field !== IMAGE_FIELD) {
        fail(wrongField(field, `Unknown field '${shorten(field)}': the picture is in 'image'.`));
      } else if (name !== null) fail(wrongField(field, 'One request takes one picture.'));
      else {
        name = pictureName(file);
        fill(picture, stream, fail);
      }
    });
    for (const event of ['partsLimit', 'fieldsLimit'] as const) {
      parser.on(event, () => {
        fail(validationFailed([{ detail: `The form has more than ${MAX_FIELDS} fields.` }]));
      });
    }
    parser.on('error', (cause) => {
      fail(unreadable(cause));
    });
    parser.on('finish', () => {
      if (name === null) fail(wrongField(IMAGE_FIELD, "Field 'image' is missing."));
      else resolve({ name, fields });
    });
    body.pipe(parser);
  });
}

function openParser(type: string): BusboyInstance {
  try {
    return new Busboy({
      headers: { 'content-type': type },
      limits: LIMITS,
      isPartAFile: (field, _type, file) => file !== undefined || field === IMAGE_FIELD,
    });
  } catch (cause) {
    throw unreadable(cause);
  }
}

function fill(
  picture: ArrivingPicture,
  stream: BusboyFileStream,
  fail: (error: LatticeError) => void,
): void {
  stream.on('data', (chunk: Buffer) => {
    try {
      picture.add(chunk);
    } catch (error) {
      stream.removeAllListeners('data');
      fail(error as LatticeError);
    }
  });
}

/** The parser has removed folders from it. */
function pictureName(given: string | undefined): string {
  if (given === undefined || given === '' || LONE_SURROGATE.test(given)) return IMAGE_FIELD;
  return Buffer.byteLength(given) > MAX_NAME_BYTES ? IMAGE_FIELD : given;
}

function unreadable(cause: unknown): LatticeError {
  const reason = cause instanceof Error ? cause.message : String(cause);
  return new LatticeError('bad_request', `The form cannot be read: ${shorten(reason)}.`, { cause });
}

function wrongField(field: string, detail: string): LatticeError {
  return validationFailed([{ detail, pointer: `#/${shorten(field)}` }]);
}
