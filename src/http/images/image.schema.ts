/** What lies in the image folders: queries and the list. */
import { z } from '@hono/zod-openapi';
import { wholeNumber } from '../query.js';
import { imagePathSchema, pathTextSchema } from '../request-fields.schema.js';

const MOST_ENTRIES = 1_000;
const DEFAULT_ENTRIES = 100;
const WIDTH = { minimum: 16, maximum: 2_048 };

export const folderQuerySchema = z.strictObject({
  under: pathTextSchema.default('').openapi({
    description: 'A folder, relative to an image root or absolute beneath one; empty: the roots',
    example: '2026/11',
  }),
  cursor: z
    .string()
    .max(2_048)
    .optional()
    .openapi({ description: 'next_cursor of the page before' }),
  limit: wholeNumber('A limit', 1, MOST_ENTRIES)
    .default(DEFAULT_ENTRIES)
    .openapi({ type: 'integer', minimum: 1, maximum: MOST_ENTRIES, default: DEFAULT_ENTRIES }),
});

export const pictureQuerySchema = z.strictObject({
  path: imagePathSchema,
  width: wholeNumber('A width', WIDTH.minimum, WIDTH.maximum)
    .optional()
    .openapi({
      type: 'integer',
      ...WIDTH,
      description:
        'Gives a thumbnail: a JPEG at most so many pixels wide, never larger than the image',
      example: 320,
    }),
});

const folderEntrySchema = z.object({
  type: z.enum(['folder', 'image']),
  name: z.string(),
  path: z
    .string()
    .openapi({ description: 'For `under` or `path` here, `image_path` and `image_paths`' }),
  bytes: z.int().optional().openapi({ format: 'int64', description: 'Of images' }),
  modified_at: z.number().optional().openapi({ format: 'double', description: 'Unix seconds' }),
});

export const folderPageSchema = z
  .object({
    path: z.string().openapi({ description: 'The folder; empty for the roots' }),
    entries: z.array(folderEntrySchema.openapi('FolderEntry')),
    next_cursor: z.string().nullable(),
  })
  .openapi('FolderPage', {
    example: {
      path: '2026',
      entries: [
        { type: 'folder', name: '11', path: '2026/11', modified_at: 1_795_263_399.3 },
        {
          type: 'image',
          name: 'gate.jpg',
          path: '2026/gate.jpg',
          bytes: 184_320,
          modified_at: 1_795_263_399.3,
        },
      ],
      next_cursor: null,
    },
  });

export type FolderPageBody = z.infer<typeof folderPageSchema>;
