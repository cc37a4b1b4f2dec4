/** The column of the descriptors of boxes, see `image-rows.ts`. Released: it never changes. */
export const BOX_DESCRIPTORS = `
  -- 64 bytes for each of the first boxes of found, see src/boxes/box-descriptors.ts; NULL: there are none.
  ALTER TABLE image_boxes ADD COLUMN descriptors BLOB;
`;
