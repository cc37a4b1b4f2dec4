/** Answers with counts in groups, as JSON or CSV, made in pieces. */
import { z } from '@hono/zod-openapi';
import { cell } from '../../../export/csv.js';
import type { Grouping } from '../../../api/job-values.js';
import type { CountSum } from '../../../store/count-sum.js';
import { replyPieces } from '../../answer/reply.js';
import type { AppContext } from '../../app-env.js';
import { COUNTED_SOURCES, sorted, toWireGroup, type GroupBody } from './count-groups.js';

const COUNT_FORMATS = ['json', 'csv'] as const;
/** Groups per piece of an answer. */
const GROUPS_PER_PIECE = 500;

/** Parameters of every route that counts. */
export const groupingSchema = <T extends Grouping>(groupings: readonly T[]) =>
  z
    .enum(groupings, { error: `by is one of ${groupings.join(', ')}.` })
    .default('hour' as T)
    .openapi({ default: 'hour' });
export const countFormatSchema = z
  .enum(COUNT_FORMATS, { error: `format is one of ${COUNT_FORMATS.join(', ')}.` })
  .default('json')
  .openapi({ default: 'json' });

export interface CountText {
  by: Grouping;
  total: CountSum;
  /** The groups of the images of `total`. */
  groups: () => AsyncIterable<GroupBody[]>;
}

// eslint-disable-next-line @typescript-eslint/require-await -- as the images, which are read
export async function* inParts(
  sums: [string | null, CountSum][],
): AsyncGenerator<GroupBody[], void> {
  for (let at = 0; at < sums.length; at += GROUPS_PER_PIECE) {
    yield sums.slice(at, at + GROUPS_PER_PIECE).map((sum) => toWireGroup(...sum));
  }
}

/** `head` with its groups as the last member. */
export async function* jsonText(
  head: object,
  groups: AsyncIterable<GroupBody[]>,
): AsyncGenerator<string, void> {
  let text = `${JSON.stringify(head).slice(0, -1)},"groups":[`;
  let separator = '';
  for await (const part of groups) {
    for (const group of part) {
      text += `${separator}${JSON.stringify(group)}`;
      separator = ',\n';
    }
    yield text;
    text = '';
  }
  yield `${text}]}`;
}

/** Answers with a file that is named after what is counted. */
export function replyCsv(
  c: AppContext,
  counts: CountText,
  name: string,
  onBroken: (error: unknown) => void,
  headers: Record<string, string>,
): Promise<Response> {
  return replyPieces(c, 200, csvText(counts), onBroken, {
    ...headers,
    'content-type': 'text/csv; charset=utf-8',
    'content-disposition': `attachment; filename="${name}.counts-by-${counts.by}.csv"`,
  });
}

/** Columns of classes and regions are those of all groups, by name. */
async function* csvText({ by, total, groups }: CountText): AsyncGenerator<string, void> {
  const classes = sorted(total.classes).map(([name]) => name);
  const regions = sorted(total.regions).flatMap(([region, sums]) =>
    sorted(sums).map(([name]) => [region, name] as const),
  );
  const isImage = by === 'image';
  const header = [
    ...(isImage ? ['image', 'time', 'time_source'] : [by]),
    ...['images', 'failed_images', 'empty_images', 'detections'],
    ...(isImage ? [] : COUNTED_SOURCES.map((source) => `time_sources.${source}`)),
    ...classes.map((name) => `class_counts.${name}`),
    ...regions.map(([region, name]) => `region_counts.${region}.${name}`),
  ];
  const line = (group: GroupBody): string => {
    const { time, time_source: source, time_sources: sources } = group;
    const cells = [
      ...[group.group, ...(isImage ? [time, source] : [])].map((text) => cell(text ?? '')),
      ...[group.images, group.failed_images, group.empty_images, group.detections],
      ...(isImage ? [] : COUNTED_SOURCES.map((each) => sources?.[each] ?? 0)),
      ...classes.map((name) => group.class_counts[name] ?? 0),
      ...regions.map(([region, name]) => group.region_counts?.[region]?.[name] ?? 0),
    ];
    return `${cells.join(',')}\r\n`;
  };
  let text = `${header.map(cell).join(',')}\r\n`;
  for await (const part of groups()) {
    yield text + part.map(line).join('');
    text = '';
  }
  if (text !== '') yield text;
}
