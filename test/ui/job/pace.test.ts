import { expect, test } from 'vitest';
import { imagesPerSecond, paceText } from '../../../src/ui/job/pace.js';

const job = { started_at: 100, completed_at: null, finished_images: 50, image_count: 200 };

test('a running job has a pace and a time left', () => {
  expect(imagesPerSecond(job, 110)).toBe(5);
  expect(paceText(job, 110)).toBe('5 images/s, 30 s left');
  expect(paceText({ ...job, finished_images: 199 }, 110)).toMatch(/less than 1 s left$/);
});

test('a job that has ended has its pace alone, and it stands still', () => {
  const ended = { ...job, finished_images: 200, completed_at: 120 };
  expect(paceText(ended, 9_999)).toBe('10 images/s');
});

test('nothing is said before the first image', () => {
  expect(paceText({ ...job, started_at: null }, 110)).toBe('');
  expect(paceText({ ...job, finished_images: 0 }, 110)).toBe('');
});
