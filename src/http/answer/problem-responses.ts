/** The error answers of a route in the OpenAPI document. */
import { z, type RouteConfig } from '@hono/zod-openapi';
import { problemSchema } from '../../answers/problem-schema.js';
import { ERRORS, LatticeError, type ErrorCode, type Problem } from '../../api/errors.js';

const REQUEST_ID = '0f9e7c1a-8f6e-4a52-9c7e-0d1b6f2f6a11';

/** The example of an error. Without one per status a documentation page shows the same problem for each. */
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
  [401, z.object({ 'WWW-Authenticate': z.string().openapi({ example: 'Bearer' }) })],
  [429, retryAfter],
  [503, retryAfter],
]);

/** Other codes of the same status are not worth a second attempt. */
const waitFor = (codes: readonly ErrorCode[]) =>
  codes.length === 1 ? retryAfter : retryAfter.partial();

/** Response entries of a route: one per HTTP status of the codes, listing the codes. */
export function problemResponses(codes: readonly ErrorCode[]): RouteConfig['responses'] {
  const statuses = new Set(codes.map((code) => ERRORS[code].status));
  const responses = [...statuses].map((status) => {
    const named = codes.filter((code) => ERRORS[code].status === status);
    const headers = named.includes('job_not_finished') ? waitFor(named) : HEADERS.get(status);
    const response = {
      description: named.map((code) => `\`${code}\`: ${ERRORS[code].title}.`).join(' '),
      ...(headers === undefined ? {} : { headers }),
      content: {
        'application/problem+json': { schema: problemSchema, example: named.map(exampleOf)[0] },
      },
    };
    return [status, response];
  });
  return Object.fromEntries(responses) as RouteConfig['responses'];
}
