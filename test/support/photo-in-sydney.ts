/** A photo that says by its EXIF where and when it was taken. */
import sharp from 'sharp';
import { PICTURE } from './service-client.js';

/** As results have it. */
export const SYDNEY = { latitude: -33.856783, longitude: 151.215297 };
export const TAKEN_IN_SYDNEY = '2024-02-29T07:08:09';

/** The EXIF data of such a photo. */
export const IN_SYDNEY = {
  IFD2: { DateTimeOriginal: '2024:02:29 07:08:09' },
  IFD3: {
    GPSLatitudeRef: 'S',
    GPSLatitude: '33/1 51/1 2442/100',
    GPSLongitudeRef: 'E',
    GPSLongitude: '151/1 12/1 5507/100',
  },
};

export function photoInSydney(): Promise<Buffer> {
  return sharp(PICTURE).withExif(IN_SYDNEY).jpeg().toBuffer();
}
