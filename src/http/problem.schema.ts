/** Wire shape of a refused answer. */
import { z } from '@hono/zod-openapi';
import { ERRORS, type ErrorCode } from '../errors.js';

const codes = Object.keys(ERRORS) as [ErrorCode, ...ErrorCode[]];

const errorItemSchema = z
  .object({
    detail: z.string(),
    pointer: z.string().optional().openapi({ description: 'JSON Pointer as URI fragment' }),
  })
  .openapi('ErrorItem', { description: 'One broken rule' });

export const problemSchema = z
  .object({
    type: z.string(),
    title: z.string(),
    status: z.int(),
    code: z.enum(codes).openapi('ErrorCode'),
    detail: z.string(),
    request_id: z.string().optional(),
    errors: z.array(errorItemSchema).optional(),
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

const retryAfter = z.object({
  'Retry-After': z.coerce
    .number()
    .int()
    .min(1)
    .openapi({ description: 'Seconds to wait before asking again' }),
});
const HEADERS = new Map<number, z.ZodObject>([
  [
    ERRORS.unauthorized.status,
    z.object({ 'WWW-Authenticate': z.string().openapi({ example: 'Bearer' }) }),
  ],
  [ERRORS.queue_full.status, retryAfter],
  [ERRORS.overloaded.status, retryAfter],
]);

interface ProblemResponse {
  description: string;
  headers?: z.ZodObject;
  content: typeof PROBLEM_CONTENT;
}

/** Response entries of a route: one per HTTP status of the named codes, listing the codes. */
export function problemResponses(...named: ErrorCode[]): Record<number, ProblemResponse> {
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
        ...headersOf(status, codesOfStatus),
        content: PROBLEM_CONTENT,
      },
    ]),
  );
}

function headersOf(status: number, named: ErrorCode[]): { headers?: z.ZodObject } {
  const headers = named.includes('job_not_finished') ? retryAfter : HEADERS.get(status);
  return headers === undefined ? {} : { headers };
}
