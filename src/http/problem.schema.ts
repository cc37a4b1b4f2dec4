/** Schema of an error answer. */
import { z } from '@hono/zod-openapi';
import { ERRORS, ERROR_CODES, LatticeError, type ErrorCode, type Problem } from '../api/errors.js';

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
    code: z.enum(ERROR_CODES).openapi('ErrorCode'),
    detail: z.string(),
    request_id: z.string().optional(),
    errors: z.array(errorItemSchema).optional(),
  })
  .openapi('Problem', { description: 'RFC 9457 problem details' });

const REQUEST_ID = '0f9e7c1a-8f6e-4a52-9c7e-0d1b6f2f6a11';

/** One per status: otherwise a documentation page shows the same problem for each. */
function exampleOf(code: ErrorCode): Problem {
  return new LatticeError(code, `${ERRORS[code].title}.`).toProblem(REQUEST_ID);
}

const retryAfter = z.object({
  'Retry-After': z.coerce
    .number()
    .int()
    .min(1)
    .openapi({ description: 'Seconds to wait before the next attempt' }),
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
  content: Record<'application/problem+json', { schema: typeof problemSchema; example: Problem }>;
}

/** Response entries of a route: one per HTTP status of the named codes, listing the codes. */
export function problemResponses(named: readonly ErrorCode[]): Record<number, ProblemResponse> {
  const byStatus = new Map<number, [ErrorCode, ...ErrorCode[]]>();
  for (const code of named) {
    const status = ERRORS[code].status;
    const before = byStatus.get(status);
    byStatus.set(status, before === undefined ? [code] : [...before, code]);
  }
  return Object.fromEntries(
    [...byStatus].map(([status, codesOfStatus]) => [
      status,
      {
        description: codesOfStatus.map((code) => `\`${code}\`: ${ERRORS[code].title}.`).join(' '),
        ...headersOf(status, codesOfStatus),
        content: {
          'application/problem+json': {
            schema: problemSchema,
            example: exampleOf(codesOfStatus[0]),
          },
        },
      },
    ]),
  );
}

function headersOf(status: number, named: ErrorCode[]): { headers?: z.ZodObject } {
  const headers = named.includes('job_not_finished') ? retryAfter : HEADERS.get(status);
  return headers === undefined ? {} : { headers };
}
