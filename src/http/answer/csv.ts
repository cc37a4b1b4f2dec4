/** Answers that may be a CSV file instead of JSON. */
import { z } from '@hono/zod-openapi';
import type { AppContext } from '../app-env.js';
import { replyPieces } from './reply.js';

const FORMATS = ['json', 'csv'] as const;

/** The parameter `format`. */
export const formatSchema = z
  .enum(FORMATS, { error: `format is one of ${FORMATS.join(', ')}.` })
  .default('json')
  .openapi({ default: 'json' });

/** Headers of the answer. */
export const csvHeadersShape = (fileName: string) => ({
  'Content-Disposition': z
    .string()
    .optional()
    .openapi({
      description: 'With `format=csv`',
      example: `attachment; filename="${fileName}"`,
    }),
});

export interface CsvFile {
  name: string;
  lines: AsyncGenerator<string, void>;
}

export function replyCsv(
  c: AppContext,
  { name, lines }: CsvFile,
  onBroken: (error: unknown) => void,
  headers: Record<string, string> = {},
): Promise<Response> {
  return replyPieces(c, 200, lines, onBroken, {
    ...headers,
    'content-type': 'text/csv; charset=utf-8',
    'content-disposition': `attachment; filename="${name}"`,
  });
}
