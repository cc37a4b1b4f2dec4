/** Schemas of the options, from their rows: in worker frames, in requests and in answers. */
import { z } from 'zod';
import {
  PARAMETER_ROWS,
  type DetectionParameters,
  type ParameterRow,
  type WireParameters,
} from '../options.js';
import {
  LEAST_POINTS,
  MOST_REGION_NAME,
  REGION_LIMITS,
  regionFaults,
  ANCHORS,
  type Region,
} from '../region-rules.js';
import { MOST_TILES, TILE_OVERLAP } from '../tiles.js';

const MOST_PIXELS = 100_000;
const MOST_NAME = 200;

/** Fields by their names here or over HTTP. */
const fields = (name: 'name' | 'wireName', schema: (row: ParameterRow) => z.ZodType) =>
  Object.fromEntries(PARAMETER_ROWS.map((row) => [row[name], schema(row)])) as unknown;

const fraction = z.number().min(0).max(1);

const CORNER = 'A corner is [x, y] in shares of the width and height of the picture, each 0 to 1.';
const cornerShare = z.number(CORNER).min(0, CORNER).max(1, CORNER);

const overlap = z.number().min(0).max(TILE_OVERLAP.most).default(TILE_OVERLAP.default);
// With names, for generators.
const tiles = z.union(
  [
    z.enum(['off', 'auto']).meta({ id: 'TileChoice' }),
    z
      .strictObject({
        columns: z.int().min(1).max(MOST_TILES),
        rows: z.int().min(1).max(MOST_TILES),
        overlap,
      })
      .refine(({ columns, rows }) => columns * rows <= MOST_TILES, {
        error: `A grid has at most ${MOST_TILES} tiles.`,
      })
      .meta({ id: 'TileGrid' }),
    z.strictObject({ size: z.int().min(32).max(MOST_PIXELS), overlap }).meta({ id: 'TileSize' }),
  ],
  {
    error:
      'Tiles are "off", "auto", {"columns": 3, "rows": 2} or {"size": 640}; an "overlap" beside columns and rows or size is ' +
      `0 to ${TILE_OVERLAP.most}.`,
  },
);

// With names, for generators.
const anchorPlaceSchema = z.enum(ANCHORS).meta({
  id: 'AnchorPlace',
  description: 'The middle of the bottom side of a box, or its centre',
});
const anchorShareSchema = z.number().min(0).max(1).meta({
  id: 'AnchorShare',
  description: 'The least share of the area of a box',
});

const regionSchema = z
  .strictObject({
    name: z
      .string()
      .min(1)
      .max(MOST_REGION_NAME)
      // Counts have it as a key.
      .refine((name) => name !== '__proto__', { error: 'It is another name than this.' }),
    polygon: z
      .array(z.tuple([cornerShare, cornerShare], CORNER))
      .min(LEAST_POINTS)
      .max(REGION_LIMITS.points)
      .meta({
        description:
          'Corners as shares of the width and height of the upright picture, from the top left. Its sides do not cross',
      }),
    classes: z
      .array(z.string().min(1).max(MOST_NAME))
      .min(1)
      .max(REGION_LIMITS.classes)
      .nullish()
      .meta({ description: 'Classes that it counts, or a mask leaves out. Default: all' }),
    anchor: z
      .union([anchorPlaceSchema, anchorShareSchema], {
        error: `An anchor is ${ANCHORS.join(', ')} or a number from 0 to 1.`,
      })
      .nullish()
      .meta({
        description:
          'What of a box must lie in the polygon: this place of it, or at least this share of its area',
        default: ANCHORS[0],
      }),
    ignore: z
      .boolean()
      .nullish()
      .meta({ description: 'A mask: boxes that lie in it are left out', default: false }),
  })
  .meta({
    id: 'Region',
    example: {
      name: 'gate',
      polygon: [
        [0.1, 0.5],
        [0.6, 0.5],
        [0.6, 1],
        [0.1, 1],
      ],
    },
  });

/** Regions of a request or of a view. */
export const regionsSchema: z.ZodArray<z.ZodType<Region>> = z
  .array(regionSchema)
  .max(REGION_LIMITS.regions)
  .superRefine((regions, context) => {
    for (const { at, field, message } of regionFaults(regions)) {
      context.addIssue({ code: 'custom', path: [at, field], message });
    }
  });

/** The name of a view, which is part of an address. */
export const viewNameSchema = z.string().regex(/^\w[\w.-]{0,63}$/, {
  error: 'A name of a view has 1 to 64 letters, digits and _ - . and begins with none of - .',
});

function plain({ kind }: ParameterRow): z.ZodType {
  switch (kind) {
    case 'switch':
      return z.boolean().nullable();
    case 'count':
      return z.int();
    case 'fraction':
    case 'size':
      return z.number();
    case 'fractions':
      return z.record(z.string(), z.number());
    case 'tiles':
      return tiles;
    case 'regions':
      return z.array(regionSchema).nullable();
    case 'view':
      return z.string().nullable();
  }
}

function ranged(row: ParameterRow): z.ZodType {
  switch (row.kind) {
    case 'switch':
      return z.boolean();
    case 'count':
      return z.int().min(1).max(row.most);
    case 'fraction':
      return fraction;
    case 'size':
      return z.number().min(0).max(MOST_PIXELS);
    case 'fractions':
      return z.record(z.string().min(1).max(MOST_NAME), fraction);
    case 'tiles':
      return tiles;
    case 'regions':
      return regionsSchema;
    case 'view':
      return viewNameSchema;
  }
}

function described({ text, ...row }: ParameterRow): Record<string, unknown> {
  switch (row.kind) {
    case 'switch':
      return { description: text, example: true };
    case 'fractions':
      return { description: text, example: { truck: 0.6 } };
    case 'tiles':
      return { description: text, default: row.default, example: 'auto' };
    case 'regions':
      return { description: text };
    case 'view':
      return { description: text, example: 'north' };
    default:
      // Generated clients send a default that the document names.
      if ('ofModel' in row) return { description: text, example: row.default };
      return { description: text, default: row.default, example: row.default };
  }
}

export const detectOptionsSchema = z.object({
  modelName: z.string(),
  classes: z.array(z.string()).readonly().nullable(),
  ...(fields('name', plain) as {
    [Key in keyof DetectionParameters]: z.ZodType<DetectionParameters[Key]>;
  }),
});

/** Fields of a request: each may be left out or null. */
export const requestParameters = fields('wireName', (row) =>
  ranged(row).meta(described(row)).nullish(),
) as {
  [Key in keyof WireParameters]: z.ZodOptional<z.ZodNullable<z.ZodType<WireParameters[Key]>>>;
};

/** Fields of the record of a job. */
export const recordParameters = fields('wireName', plain) as {
  [Key in keyof WireParameters]: z.ZodType<WireParameters[Key]>;
};
