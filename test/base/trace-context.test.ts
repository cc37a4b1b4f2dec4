import { expect, test } from 'vitest';
import { childOf, readTraceparent, traceparentOf } from '../../src/base/trace-context.js';

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const SPAN = '00f067aa0ba902b7';

test('a span of the service is in the trace of the caller', () => {
  const caller = readTraceparent(`00-${TRACE}-${SPAN}-01`);
  expect(caller).toEqual({ traceId: TRACE, spanId: SPAN, flags: '01' });
  const own = childOf(caller!);
  expect(own).toMatchObject({ traceId: TRACE, flags: '01' });
  expect(own.spanId).not.toBe(SPAN);
  expect(readTraceparent(traceparentOf(own))).toEqual(own);
});

test('a later version may have more fields', () => {
  expect(readTraceparent(`01-${TRACE}-${SPAN}-01-more`)).not.toBeNull();
  expect(readTraceparent(`00-${TRACE}-${SPAN}-01-more`)).toBeNull();
});

test.each([
  undefined,
  '',
  `ff-${TRACE}-${SPAN}-01`,
  `00-${'0'.repeat(32)}-${SPAN}-01`,
  `00-${TRACE}-${'0'.repeat(16)}-01`,
  `00-${TRACE.toUpperCase()}-${SPAN}-01`,
  `00-${TRACE}-${SPAN}`,
])('%s is none', (text) => {
  expect(readTraceparent(text)).toBeNull();
});
