/** Schema of an error answer. */
import { z } from '@hono/zod-openapi';
import { ERROR_CODES } from '../api/errors.js';

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
