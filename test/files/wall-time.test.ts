/** Times in names: what programs and cameras write is read right, and nothing else is taken for a time. */
import { describe, expect, test } from 'vitest';
import { timeInName, wallTimeOf } from '../../src/files/wall-time.js';

const HALF_PAST_TWO = '2025-11-26T14:30:00';
const UNIX_S = 1_764_167_400;
/** In the zone of this process. */
const UNIX = wallTimeOf(new Date(UNIX_S * 1_000));

describe.each([
  ['20251126_143000.jpg', HALF_PAST_TWO],
  ['2025-11-26T14-30-00.jpg', HALF_PAST_TWO],
  ['2025-11-26_14.30.00.jpg', HALF_PAST_TWO],
  ['IMG_20251126_143000.jpg', HALF_PAST_TWO],
  ['PXL_20251126_143000123.MP.jpg', HALF_PAST_TWO],
  ['WhatsApp Image 2025-11-26 at 14.30.00.jpeg', HALF_PAST_TWO],
  ['cam7-20251126143000-1.png', HALF_PAST_TWO],
  ['99999999_20251126-143000.png', HALF_PAST_TWO],
  ['Reolink_01_20251126143000.jpg', HALF_PAST_TWO],
  ['192.168.1.64_01_20251126143000123_MOTION_DETECTION.jpg', HALF_PAST_TWO],
  // Times of a clock of twelve hours.
  ['cam 2025-11-26 02.30.00 PM.jpg', HALF_PAST_TWO],
  ['cam 2025-11-26 02.30.00 AM.jpg', '2025-11-26T02:30:00'],
  ['cam 2025-11-26 12.30.00 AM.jpg', '2025-11-26T00:30:00'],
  ['cam 2025-11-26 12.30.00 PM.jpg', '2025-11-26T12:30:00'],
  ['Screenshot 2025-11-26 at 2.30.00\u202fPM.png', HALF_PAST_TWO],
  ['Screenshot 2025-11-26 at 2.30 p.m..png', HALF_PAST_TWO],
  ['20251126_023000pm.jpg', HALF_PAST_TWO],
  ['20251126_143000_PM.jpg', HALF_PAST_TWO],
  ['20251126_143000_AM.jpg', HALF_PAST_TWO],
  ['20251126_093000-PM2.5.jpg', '2025-11-26T09:30:00'],
  ['20251126_093000_amber.jpg', '2025-11-26T09:30:00'],
  // Without seconds.
  ['20240105T1430.jpg', '2024-01-05T14:30:00'],
  ['cam_2024-01-05T14-30.jpg', '2024-01-05T14:30:00'],
  ['20240105T1920x1080.jpg', null],
  ['20240105T14.jpg', null],
  ['20240105T2460.jpg', null],
  ['20240105_1430.jpg', null],
  // With their folders.
  ['motion/cam1/2025-11-26/14-30-00.jpg', HALF_PAST_TWO],
  ['2025-11-26/14-30-00-01.jpg', HALF_PAST_TWO],
  ['AMC0/2025-11-26/001/jpg/14/30/00[M][0@0][0].jpg', HALF_PAST_TWO],
  ['2025-11-26/001/jpg/14.30.00-14.31.00[M][0@0][0].jpg', HALF_PAST_TWO],
  ['2025/11/26/14/30/00.jpg', HALF_PAST_TWO],
  ['cam/20251126/14/30-00.jpg', HALF_PAST_TWO],
  ['2025/11/26/14-30-00.jpg', HALF_PAST_TWO],
  ['2025-11-26/20251126_143000.jpg', HALF_PAST_TWO],
  ['2025-11-26/000123.jpg', null],
  ['2025-11-26/143000.jpg', null],
  ['2025-11-26/14-30.jpg', null],
  ['2025-11-26/10.20.30.40.jpg', null],
  ['2025-11-26/99-30-00.jpg', null],
  ['2025-02-30/14-30-00.jpg', null],
  ['2025-11-26/001/frame-12.jpg', null],
  ['20251126_143000/1.jpg', null],
  ['lot 2025-11-26/14-30-00.jpg', null],
  // Since 1970.
  [`${UNIX_S}.jpg`, UNIX],
  [`${UNIX_S}123.jpg`, UNIX],
  [`snapshot_${UNIX_S}.jpg`, UNIX],
  [`front_door-${UNIX_S}.123456-a1b2c3.jpg`, UNIX],
  ['1234567890.jpg', null],
  ['1000000001.jpg', null],
  ['1999999999.jpg', null],
  [`SN${UNIX_S}.jpg`, null],
  [`serial-${UNIX_S}.jpg`, null],
  [`phone ${UNIX_S}.jpg`, null],
  ['+49 151 23456789.jpg', null],
  ['555-123-4567.jpg', null],
  ['13812345678.jpg', null],
  [`${UNIX_S}12.jpg`, null],
  [`a${UNIX_S}f.jpg`, null],
  // No time.
  ['2025-11-26.jpg', null],
  ['20251326_143000.jpg', null],
  ['20250229_143000.jpg', null],
  ['20251126_246000.jpg', null],
  ['120251126143000.jpg', null],
  ['2025112614300012345.jpg', null],
  ['frame-000123.jpg', null],
  ['photo-1920x1080.jpg', null],
  ['20251126_1920x1080.jpg', null],
])('%s', (path, time) => {
  test(time === null ? 'is not read' : `is ${time}`, () => {
    expect(timeInName(`gate/${path}`)).toBe(time);
    expect(timeInName(path)).toBe(time);
  });
});
