/** The migration that adds up the images of each job by folder and hour; beside `schema.ts` because of its length. */
import { posix } from 'node:path';
import { CountSum, type SumRow } from '../count-sum.js';
import { timeOfFile } from '../../files/wall-time.js';

/** Functions that the migration calls. `picture_time` gives a JSON of a `PictureTime`. */
export const FUNCTIONS_OF_COUNTS = {
  folder_of: (path: string) => posix.dirname(path),
  picture_time: (path: string, modifiedNs: string | null) => {
    const time = timeOfFile(path, modifiedNs);
    return time && JSON.stringify(time);
  },
};

/** An aggregate that the migration calls: the sum of JSON of `SumRow`s, as one. */
export const SUM_OF = {
  start: '',
  step: (before: string, row: string) => {
    const sum = new CountSum(JSON.parse(row) as SumRow);
    if (before !== '') sum.merge(JSON.parse(before) as SumRow);
    return JSON.stringify(sum.toRow());
  },
};

export const COUNTS_BY_HOUR = `
  -- When each picture was taken was worked out when it was read, where its own time was not known.
  UPDATE image_facts SET taken = found ->> 'time', taken_from = found ->> 'source'
  FROM (SELECT task AS image, picture_time(path, outcome ->> '$.file.modifiedNs') AS found
        FROM image_facts JOIN job_images USING (task) WHERE taken IS NULL)
  WHERE task = image AND found IS NOT NULL;

  -- Images of a job by folder and hour, counted as the job asks: number = number of the job * 2^20 + 0, 1, ...
  CREATE TABLE job_counts (
    number INTEGER PRIMARY KEY,
    folder TEXT NOT NULL,
    -- 2025-11-26T14 as the clock on the wall showed it; empty: the time is not known.
    hour   TEXT NOT NULL,
    -- JSON of a SumRow.
    sum    TEXT NOT NULL
  ) STRICT;
  WITH
    counted AS MATERIALIZED (
      SELECT task, number AS job, folder_of(path) AS folder, coalesce(substr(taken, 1, 13), '') AS hour
      FROM image_facts JOIN job_images USING (task) JOIN jobs ON number = task / 1048576),
    sums AS (
      SELECT job, folder, hour, count(*) AS images, sum(failed) AS failed, sum(boxes = 0 AND NOT failed) AS empty
      FROM counted JOIN image_facts USING (task) GROUP BY job, folder, hour),
    sources AS (
      SELECT job, folder, hour, json_group_object(source, images) AS text FROM
        (SELECT job, folder, hour, coalesce(taken_from, 'none') AS source, count(*) AS images
         FROM counted JOIN image_facts USING (task) GROUP BY job, folder, hour, source)
      GROUP BY job, folder, hour),
    classes AS (
      SELECT job, folder, hour, json_group_object(class, boxes) AS text FROM
        (SELECT job, folder, hour, key AS class, sum(value) AS boxes
         FROM counted JOIN image_facts USING (task), json_each(class_counts) GROUP BY job, folder, hour, class)
      GROUP BY job, folder, hour),
    regions AS (
      SELECT job, folder, hour, json_group_object(region, json(text)) AS text FROM
        (SELECT job, folder, hour, region,
           json_group_object(class, boxes) FILTER (WHERE class IS NOT NULL) AS text FROM
           (SELECT job, folder, hour, each.key AS region, own.key AS class, sum(own.value) AS boxes
            FROM counted JOIN image_facts USING (task), json_each(region_counts) AS each
            LEFT JOIN json_each(each.value) AS own GROUP BY job, folder, hour, region, class)
         GROUP BY job, folder, hour, region)
      GROUP BY job, folder, hour)
  INSERT INTO job_counts (number, folder, hour, sum)
  SELECT job * 1048576 + row_number() OVER (PARTITION BY job ORDER BY folder, hour) - 1, folder, hour,
    json_patch(
      json_object('images', images, 'failed', failed, 'empty', empty, 'classes', json(coalesce(classes.text, '{}')),
        'sources', json(sources.text)),
      json_object('regions', json(regions.text)))
  FROM sums JOIN sources USING (job, folder, hour) LEFT JOIN classes USING (job, folder, hour)
  LEFT JOIN regions USING (job, folder, hour);
  CREATE UNIQUE INDEX job_counts_by_hour ON job_counts (number / 1048576, hour, folder);

  -- The row of job_counts that has the image; images of earlier versions have none.
  ALTER TABLE image_boxes ADD COLUMN counted INTEGER;

  -- Images of all jobs of a watch or with tags, also of those that retention has removed. Texts are as in jobs and
  -- job_listings.
  CREATE TABLE scope_counts (
    number INTEGER PRIMARY KEY,
    -- Empty without authentication.
    owner  TEXT NOT NULL,
    -- Empty: no watch made the jobs.
    watch  TEXT NOT NULL,
    tags   TEXT NOT NULL,
    folder TEXT NOT NULL,
    hour   TEXT NOT NULL,
    sum    TEXT NOT NULL,
    -- Images whose results are removed.
    removed INTEGER NOT NULL DEFAULT 0,
    UNIQUE (owner, watch, tags, folder, hour)
  ) STRICT;
  INSERT INTO scope_counts (owner, watch, tags, folder, hour, sum)
  SELECT coalesce(key_id, ''), coalesce(watch, ''), marked_tags, folder, hour, sum_of(sum)
  FROM job_counts JOIN jobs ON jobs.number = job_counts.number / 1048576 JOIN job_listings ON job = jobs.number
  WHERE watch IS NOT NULL OR marked_tags <> '' GROUP BY 1, 2, 3, 4, 5;

  -- Where the images of the job are counted; NULL: nowhere. Those that are not kept are taken out of the counts.
  ALTER TABLE swept_jobs ADD COLUMN owner TEXT;
  ALTER TABLE swept_jobs ADD COLUMN watch TEXT;
  ALTER TABLE swept_jobs ADD COLUMN tags TEXT NOT NULL DEFAULT '';
  ALTER TABLE swept_jobs ADD COLUMN kept INTEGER NOT NULL DEFAULT 0;
  `;
