/** A model that requests can name, and what may run it. */
import { z } from 'zod';

/** Values of settings and of the addon; `auto` leaves the choice to the machine. */
export const DEVICES = ['auto', 'cpu', 'cuda'] as const;
export const PRECISIONS = ['auto', 'f32', 'bf16', 'int8'] as const;
export type Device = (typeof DEVICES)[number];
export type Precision = (typeof PRECISIONS)[number];
/** Precisions of the addon: int8 is a file of its own, whose other numbers are computed in one of these. */
export type FloatPrecision = Exclude<Precision, 'int8'>;

const modelInputSchema = z.object({ width: z.int(), height: z.int() }).meta({ id: 'ModelInput' });

/**
 * The model file that a name stood for at one time on one worker. The images of a job name the version that the job
 * began with, so that a file that is replaced meanwhile does not change its boxes.
 */
export const modelVersionSchema = z.object({
  /** Digest of the file that is loaded, as `model_digest` of results. */
  digest: z.string(),
  /** Digest of the model file itself: another one where its copy in 8 bits is loaded. */
  source: z.string(),
  precision: z.string(),
});
export type ModelVersion = z.infer<typeof modelVersionSchema>;

/** A version with the model's own name: a request may name the model by an alias. */
export const namedVersionSchema = modelVersionSchema.extend({ name: z.string() });
export type NamedVersion = z.infer<typeof namedVersionSchema>;

export const modelDescriptionSchema = z.object({
  name: z.string().meta({ description: 'Use it as model_name' }),
  state: z.enum(['ready', 'available', 'refused']).meta({
    description: 'ready: loaded. available: loaded on first use. refused: see reason',
  }),
  reason: z.string().nullable().meta({
    description:
      'Why it is refused; of a ready model, why the file that has replaced its own cannot be used: the loaded one goes on answering; or why it runs small batches only on a GPU',
  }),
  classes: z.array(z.string()),
  device: z.string().nullable(),
  precision: z.string().nullable(),
  digest: z.string().nullable().meta({
    description:
      'The first 16 hex digits of the SHA-256 of the file that is loaded, as `model_digest` of results; null while it is not loaded',
  }),
  quantizedFrom: z.string().nullable().meta({
    description:
      'Where the copy in 8 bits is loaded: the digest of the model file that it was made from',
  }),
  agreement: z.number().nullable().meta({
    description:
      'Share of its boxes on the demo pictures, 0 to 1, that are those of f32 on the CPU; null for a bundled model on the CPU, for one that is not loaded or was compiled in f32 at this load, and where there were none',
  }),
  input: z.union([modelInputSchema, z.null()]),
  memoryBytes: z
    .int()
    .nullable()
    .meta({ format: 'int64', description: 'About; null while it is not loaded' }),
  licence: z.string().nullable(),
  confidenceThreshold: z.number().meta({
    description: "Of requests that name none: the model's own, else 0.5",
  }),
  aliasOf: z.string().nullable().meta({
    description:
      'The model that the name stands for: of an alias its own, of a bundled model until a file of that name is there',
  }),
  release: z.string().nullable().meta({
    description:
      'Of a bundled model; null for a file of the models folder, whose version is that of the program that exported it',
  }),
  bundled: z
    .boolean()
    .meta({ description: 'True where a bundled model stands in for a file that is absent' }),
  isDefault: z.boolean(),
});

export type ModelDescription = z.infer<typeof modelDescriptionSchema>;
