/** Priorities of jobs and of their images are 0 to this; higher runs first. */
export const TOP_PRIORITY = 10;
