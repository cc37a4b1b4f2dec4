/** Names that operators give to models: what they stand for, and how well a model that is on trial agrees with it. */
import { z } from 'zod';

export const aliasCanarySchema = z
  .object({
    model: z.string(),
    share: z.number().gt(0).lte(1).meta({
      description:
        'Of the requests: those whose picture falls into it by its path, or by its content where it was sent; a job by its id',
    }),
  })
  .meta({ id: 'AliasCanary' });

export const aliasContentSchema = z.object({
  model: z.string().meta({ description: 'The model that answers, by its own name', example: 'depot.pt' }), // prettier-ignore
  canary: z.union([aliasCanarySchema, z.null()]).meta({
    description: 'Another model, which answers a share of the requests in its place',
    example: { model: 'depot-v2.pt', share: 0.1 },
  }),
  shadow: z.string().nullable().meta({
    description:
      'Another model, which looks at the same pictures while the service is idle; it answers nothing, and its boxes are compared',
    example: 'depot-v2.pt',
  }),
});
export type AliasContent = z.infer<typeof aliasContentSchema>;
