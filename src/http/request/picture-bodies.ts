/** Pictures in request bodies: held in memory while their request lasts, never written. */
import type { Config } from '../../settings/config.js';
import { environmentName } from '../../settings/config.js';
import { LatticeError } from '../../api/errors.js';
import { PICTURE_FORMATS } from '../../files/picture-format.js';
import type { AppContext } from '../app-env.js';
import { BytesInHand, type ByteReservation } from './bytes-in-hand.js';
import { ArrivingPicture, bodyOf, declaredBytes, readChunks, refuseCoding } from './read-body.js';
import { refuseText } from './text-for-picture.js';
import { FORM_OVERHEAD, IMAGE_FIELD, readForm, type Form } from './read-form.js';

export const PICTURE_TYPES = PICTURE_FORMATS.map(({ type }) => type);
export const FORM_TYPE = 'multipart/form-data';
/** Names of the types are often wrong or none (`image/jpg`, `image/*`). The decoder finds the format in the bytes. */
const PICTURE_TYPE = /^(?:image\/[\w.+*-]+|application\/octet-stream)\s*(?:;|$)/i;
const FORM = /^multipart\/form-data\s*(?:;|$)/i;

export interface PictureBody extends Form {
  image: Buffer;
}

type PictureConfig = Pick<Config, 'acceptImages' | 'maxFileBytes'>;

export class PictureBodies {
  readonly #config: PictureConfig;
  readonly #inHand: BytesInHand;

  constructor(config: PictureConfig) {
    this.#config = config;
    this.#inHand = new BytesInHand(config);
  }

  /** Most bytes of a body of this Content-Type; null when it is none of a picture or form. */
  maxBytes(type: string | undefined): number | null {
    const { maxFileBytes } = this.#config;
    if (type === undefined) return null;
    if (FORM.test(type)) return maxFileBytes + FORM_OVERHEAD;
    return PICTURE_TYPE.test(type) ? maxFileBytes : null;
  }

  /** Whether the body is, by its Content-Type, a picture or a form. */
  isPicture(c: AppContext): boolean {
    return this.maxBytes(c.req.header('content-type')) !== null;
  }

  /**
   * Reads the body and runs `work` on it; its bytes count as in hand until then. Rejects with `unsupported_media_type`
   * where pictures are not accepted, `body_too_large`, `overloaded`, or as `readForm`.
   */
  receive<T>(c: AppContext, work: (picture: PictureBody) => Promise<T>): Promise<T> {
    return this.hold(c, async (reservation) => work(await this.#read(c, reservation)));
  }

  /** Bytes that `work` adds to the reservation count until it ends. Rejects where pictures are not accepted. */
  async hold<T>(c: AppContext, work: (reservation: ByteReservation) => Promise<T>): Promise<T> {
    this.#check(c);
    const reservation = this.#inHand.open();
    try {
      return await work(reservation);
    } finally {
      reservation.release();
    }
  }

  #check(c: AppContext): void {
    if (!this.#config.acceptImages) {
      const name = environmentName('acceptImages');
      throw new LatticeError(
        'unsupported_media_type',
        `This service takes no pictures in requests (${name}=false). Send JSON with an image_path.`,
      );
    }
    refuseCoding(c);
  }

  async #read(c: AppContext, reservation: ByteReservation): Promise<PictureBody> {
    const { maxFileBytes } = this.#config;
    const type = c.req.header('content-type') ?? '';
    const bodyBytes = declaredBytes(c);
    if (bodyBytes !== null && bodyBytes > (this.maxBytes(type) ?? 0)) {
      throw new LatticeError('body_too_large', `The picture exceeds ${maxFileBytes} bytes.`);
    }
    const picture = new ArrivingPicture(maxFileBytes, bodyBytes, reservation);
    let form: Form = { name: IMAGE_FIELD, fields: [] };
    if (FORM.test(type)) form = await readForm(bodyOf(c), type, picture);
    else {
      await readChunks(bodyOf(c), (chunk) => {
        picture.add(chunk);
      });
    }
    const image = picture.bytes();
    refuseText(image, FORM.test(type) ? `The field '${IMAGE_FIELD}'` : 'The body');
    return { ...form, image };
  }
}
