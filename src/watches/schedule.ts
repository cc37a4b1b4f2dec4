/** Times of day at which a watch works. */
import { DAYS, type ScheduledTime } from '../api/watch-times.js';

const MINUTES_PER_DAY = 24 * 60;

/** Whether one of the times has begun and not ended, by the local time of `at`. */
export function isScheduled(times: readonly ScheduledTime[] | null, at: Date): boolean {
  if (times === null) return true;
  const minute = at.getHours() * 60 + at.getMinutes();
  return times.some(({ from, to, days }) => {
    const begin = minutesOf(from);
    const length = (minutesOf(to) - begin + MINUTES_PER_DAY) % MINUTES_PER_DAY || MINUTES_PER_DAY;
    // The day before for a time that has lasted past midnight.
    return [0, 1].some((daysAgo) => {
      const since = minute + daysAgo * MINUTES_PER_DAY - begin;
      const day = DAYS[(at.getDay() - daysAgo + 7) % 7] ?? 'sun';
      return since >= 0 && since < length && (days?.includes(day) ?? true);
    });
  });
}

function minutesOf(time: string): number {
  const [hours = 0, minutes = 0] = time.split(':').map(Number);
  return hours * 60 + minutes;
}
