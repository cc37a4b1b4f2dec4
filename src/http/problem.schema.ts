/** Wire shape of a refused answer. */
import { z } from '@hono/zod-openapi';
import { ERRORS, type ErrorCode } from '../errors.js';

const codes = Object.keys(ERRORS) as [ErrorCode, ...ErrorCode[]];

export const problemSchema = z
  .object({
    type: z.string(),
    title: z.string(),
    status: z.int(),
    code: z.enum(codes),
    detail: z.string(),
    request_id: z.string().optional(),
    errors: z
      .array(
        z.object({
          detail: z.string(),
          pointer: z.string().optional().openapi({ description: 'JSON Pointer as URI fragment' }),
        }),
      )
      .optional(),
  })
  .openapi('Problem', {
    description: 'RFC 9457 problem details',
    example: {
      type: 'urn:lattice:error:job_not_found',
      title: 'Job not found',
      status: 404,
      code: 'job_not_found',
      detail: 'No job has this id.',
      request_id: '0f9e7c1a-8f6e-4a52-9c7e-0d1b6f2f6a11',
    },
  });

const PROBLEM_CONTENT = { 'application/problem+json': { schema: problemSchema } };

/** Response entries of a route: one per HTTP status of the named codes, listing the codes. */
export function problemResponses(
  ...named: ErrorCode[]
): Record<number, { description: string; content: typeof PROBLEM_CONTENT }> {
  const byStatus = new Map<number, ErrorCode[]>();
  for (const code of named) {
    const status = ERRORS[code].status;
    byStatus.set(status, [...(byStatus.get(status) ?? []), code]);
  }
  return Object.fromEntries(
    [...byStatus].map(([status, codesOfStatus]) => [
      status,
      {
        description: codesOfStatus.map((code) => `\`${code}\`: ${ERRORS[code].title}.`).join(' '),
        content: PROBLEM_CONTENT,
      },
    ]),
  );
}
