/** How well two models agree, as over HTTP, of an alias and of two jobs, and from `lattice model compare --json`. */
import { z } from '@hono/zod-openapi';
import { snakeCase } from '../api/snake-case.js';
import type { Agreement, AgreementRow } from '../boxes/agreement.js';

const count = (description: string) => z.int().openapi({ description });
const agreementRow = snakeCase(
  z.object({
    first: count('Boxes of the first model'),
    second: count('Boxes of the second model, by its own classes and sizes'),
    matched: count(
      'Boxes that both have in one place, whatever their class; they and what follows are counted by the class and the size of the first model',
    ),
    flipped: count('Of the matched boxes, those of another class'),
    gained: count('Boxes that only the second model has'),
    lost: count('Boxes that only the first model has'),
    scoreShift: z.number().nullable().openapi({
      description:
        'Mean confidence of the second model less that of the first, of the matched boxes',
    }),
  }),
);
const rowSchema = z.object(agreementRow.shape).openapi('AgreementRow');
const namedRowSchema = rowSchema
  .extend({
    of: z.string().openapi({ description: 'A class, or a range of sizes', example: 'car' }),
  })
  .openapi('NamedAgreementRow');

export const agreementShape = {
  share: z.number().openapi({
    description: 'Of the boxes of both, those in one place and of one class; 1 without a box',
  }),
  all: rowSchema,
  by_class: z.array(namedRowSchema),
  by_size: z.array(namedRowSchema),
};

export const leastAgreeingSchema = z
  .object({
    image_path: z.string(),
    share: z.number(),
    gained: z.int(),
    lost: z.int(),
    flipped: z.int(),
  })
  .openapi('LeastAgreeing');

export function toWireAgreementFigures({
  share,
  all,
  byClass,
  bySize,
}: Pick<Agreement, 'share' | 'all' | 'byClass' | 'bySize'>): z.infer<
  z.ZodObject<typeof agreementShape>
> {
  // `of` is null in `all` alone.
  const named = (row: AgreementRow) => ({ ...agreementRow.toWire(row), of: row.of ?? '' });
  return {
    share,
    all: agreementRow.toWire(all),
    by_class: byClass.map(named),
    by_size: bySize.map(named),
  };
}
