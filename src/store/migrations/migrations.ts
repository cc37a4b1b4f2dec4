/** The tables of the job store, release by release. A change is a new entry at the end; released ones never change. */
import { COUNTS_BY_HOUR } from './count-migration.js';
import { BOX_DESCRIPTORS } from './descriptor-migration.js';
import { CAMERA_HEALTH } from './health-migration.js';
import { KEY_USE } from './key-use-migration.js';
import { CAMERA_PLACES } from './place-migration.js';

/** "LATT": tells the file from those of other programs. */
export const APPLICATION_ID = 0x4c_41_54_54;

export const MIGRATIONS = [
  `
  CREATE TABLE jobs (
    -- AUTOINCREMENT: a number is part of task ids in crash markers and must never name another job.
    number       INTEGER PRIMARY KEY AUTOINCREMENT,
    job_id       TEXT NOT NULL UNIQUE,
    key_id       TEXT,
    job_type     TEXT NOT NULL,
    status       TEXT NOT NULL CHECK (status IN ('pending', 'running', 'completed', 'failed')),
    priority     INTEGER NOT NULL,
    settings     TEXT NOT NULL,
    metadata     TEXT,
    image_count  INTEGER NOT NULL,
    finished     INTEGER NOT NULL DEFAULT 0,
    succeeded    INTEGER NOT NULL DEFAULT 0,
    submitted_at REAL NOT NULL,
    started_at   REAL,
    completed_at REAL,
    worker_id    TEXT NOT NULL DEFAULT '',
    lease        INTEGER,
    error        TEXT
  ) STRICT;
  CREATE INDEX jobs_by_status ON jobs (status, number);
  CREATE INDEX jobs_by_owner ON jobs (key_id, number) WHERE key_id IS NOT NULL;
  CREATE INDEX jobs_by_end ON jobs (completed_at) WHERE completed_at IS NOT NULL;

  -- task = number of the job * 2^20 + index: one tree, clustered by job, no second index.
  CREATE TABLE job_images (
    task    INTEGER PRIMARY KEY,
    path    TEXT NOT NULL,
    outcome TEXT,
    deaths  INTEGER NOT NULL DEFAULT 0
  ) STRICT;
  CREATE INDEX suspect_images ON job_images (task) WHERE deaths > 0 AND outcome IS NULL;

  CREATE TABLE outbox (
    seq       INTEGER PRIMARY KEY AUTOINCREMENT,
    job       INTEGER NOT NULL,
    job_id    TEXT NOT NULL,
    key_id    TEXT,
    event     TEXT NOT NULL,
    status    TEXT NOT NULL,
    timestamp REAL NOT NULL,
    progress  REAL NOT NULL,
    error     TEXT,
    terminal  INTEGER NOT NULL
  ) STRICT;
  CREATE UNIQUE INDEX one_end_a_job ON outbox (job) WHERE terminal = 1;

  CREATE TABLE webhook_deliveries (
    sequence        INTEGER PRIMARY KEY AUTOINCREMENT,
    delivery_id     TEXT NOT NULL UNIQUE,
    job             INTEGER NOT NULL REFERENCES jobs (number) ON DELETE CASCADE,
    job_id          TEXT NOT NULL,
    url             TEXT NOT NULL,
    state           TEXT NOT NULL CHECK (state IN ('pending', 'delivered', 'gave_up')),
    attempt         INTEGER NOT NULL DEFAULT 0,
    created_at      REAL NOT NULL,
    next_attempt_at REAL,
    last_status     INTEGER,
    last_error      TEXT
  ) STRICT;
  CREATE INDEX webhooks_due ON webhook_deliveries (next_attempt_at) WHERE state = 'pending';
  CREATE INDEX webhooks_by_job ON webhook_deliveries (job);

  CREATE TABLE idempotency (
    key         TEXT PRIMARY KEY,
    fingerprint TEXT NOT NULL,
    job_id      TEXT NOT NULL,
    created_at  REAL NOT NULL
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX idempotency_by_age ON idempotency (created_at);

  -- Jobs that are gone whose images still have to be deleted, a few at a time.
  CREATE TABLE swept_jobs (number INTEGER PRIMARY KEY) STRICT;

  CREATE TABLE process_runs (lease INTEGER PRIMARY KEY AUTOINCREMENT, started_at REAL NOT NULL) STRICT;
  CREATE TABLE charged_markers (marker TEXT PRIMARY KEY, charged_at REAL NOT NULL) STRICT;
  `,
  `
  -- When next_attempt_at was chosen: a clock before that was set back.
  ALTER TABLE webhook_deliveries ADD COLUMN planned_at REAL;
  UPDATE webhook_deliveries SET planned_at = created_at;
  `,
  `
  -- Host and port of the URL: a host that is at its limit of attempts is left out without reading its rows.
  ALTER TABLE webhook_deliveries ADD COLUMN host TEXT NOT NULL DEFAULT '';
  UPDATE webhook_deliveries SET host = substr(url, instr(url, '://') + 3);
  UPDATE webhook_deliveries SET host = lower(substr(host, 1, instr(host || '/', '/') - 1));
  CREATE INDEX webhooks_by_host ON webhook_deliveries (host, next_attempt_at) WHERE state = 'pending';
  `,
  `
  -- The job_id of the job whose failed images this one runs again; that job may be gone.
  ALTER TABLE jobs ADD COLUMN retry_of TEXT;

  -- Images in error when the event was stored. Older events than this column have it where they end a job.
  ALTER TABLE outbox ADD COLUMN failed INTEGER NOT NULL DEFAULT 0;
  UPDATE outbox SET failed = coalesce((SELECT finished - succeeded FROM jobs WHERE number = outbox.job), 0)
    WHERE terminal = 1;

  -- Attempts that were made when the delivery was last begun: its waits follow from those since.
  ALTER TABLE webhook_deliveries ADD COLUMN attempts_before INTEGER NOT NULL DEFAULT 0;
  -- The newest attempts of each delivery, numbered from 1.
  CREATE TABLE webhook_attempts (
    delivery    INTEGER NOT NULL REFERENCES webhook_deliveries (sequence) ON DELETE CASCADE,
    number      INTEGER NOT NULL,
    at          REAL NOT NULL,
    status      INTEGER,
    error       TEXT,
    duration_ms REAL NOT NULL,
    PRIMARY KEY (delivery, number)
  ) STRICT, WITHOUT ROWID;
  `,
  `
  -- What pages of a job show and filter by, beside the outcomes, which are long: one narrow row per image with one.
  CREATE TABLE image_facts (
    task    INTEGER PRIMARY KEY REFERENCES job_images (task) ON DELETE CASCADE,
    failed  INTEGER NOT NULL,
    boxes   INTEGER NOT NULL,
    -- The lowest confidence of its boxes.
    weakest REAL,
    -- Each class once, between line breaks.
    classes TEXT NOT NULL
  ) STRICT;
  INSERT INTO image_facts (task, failed, boxes, weakest, classes)
  SELECT task, outcome ->> 'status' = 'error', coalesce(json_array_length(outcome, '$.detections'), 0),
    (SELECT min(value ->> 'confidence') FROM json_each(outcome, '$.detections')),
    coalesce((SELECT char(10) || group_concat(class, char(10)) || char(10) FROM
      (SELECT DISTINCT value ->> 'class' AS class FROM json_each(outcome, '$.detections'))), '')
  FROM job_images JOIN jobs ON jobs.number = task / 1048576 WHERE outcome IS NOT NULL;

  -- Boxes of a job by class and twentieth of confidence.
  CREATE TABLE job_boxes (
    job   INTEGER NOT NULL REFERENCES jobs (number) ON DELETE CASCADE,
    class TEXT NOT NULL,
    step  INTEGER NOT NULL,
    boxes INTEGER NOT NULL,
    PRIMARY KEY (job, class, step)
  ) STRICT, WITHOUT ROWID;
  INSERT INTO job_boxes (job, class, step, boxes)
  SELECT jobs.number, value ->> 'class' AS class, min(CAST((value ->> 'confidence') * 20 AS INTEGER), 19) AS step, count(*)
  FROM job_images JOIN jobs ON jobs.number = task / 1048576, json_each(outcome, '$.detections')
  WHERE outcome IS NOT NULL GROUP BY 1, 2, 3;
  `,
  `
  -- The options of detection lie together.
  UPDATE jobs SET settings = json_set(
    json_remove(settings, '$.modelName', '$.confidence', '$.iou', '$.maxDetections', '$.classes'),
    '$.options', json_object('modelName', settings -> '$.modelName', 'confidence', settings -> '$.confidence',
      'iou', settings -> '$.iou', 'maxDetections', settings -> '$.maxDetections', 'classes', settings -> '$.classes'));

  -- Nothing reads it any more.
  ALTER TABLE webhook_deliveries DROP COLUMN planned_at;
  `,
  `
  PRAGMA application_id = ${APPLICATION_ID};
  `,
  `
  -- What the clock showed while the service ran: by running time in seconds over all runs.
  CREATE TABLE clock_marks (
    from_s   REAL PRIMARY KEY,
    until_s  REAL NOT NULL,
    -- Unix time.
    earliest REAL NOT NULL
  ) STRICT, WITHOUT ROWID;
  `,
  `
  -- Views in their newest versions. A version without content says that the view was deleted.
  CREATE TABLE views (
    -- The API key whose view it is; empty without authentication.
    owner     TEXT NOT NULL,
    name      TEXT NOT NULL,
    version   INTEGER NOT NULL,
    stored_at REAL NOT NULL,
    content   TEXT,
    PRIMARY KEY (owner, name, version)
  ) STRICT;

  -- Boxes of a job by region and class; a row without a class and boxes is that of the region itself.
  CREATE TABLE job_regions (
    job    INTEGER NOT NULL REFERENCES jobs (number) ON DELETE CASCADE,
    region TEXT NOT NULL,
    class  TEXT NOT NULL,
    boxes  INTEGER NOT NULL,
    PRIMARY KEY (job, region, class)
  ) STRICT, WITHOUT ROWID;

  -- What counts of a job are made of. JSON: boxes by class; boxes by region and class.
  ALTER TABLE image_facts ADD COLUMN class_counts TEXT NOT NULL DEFAULT '{}';
  ALTER TABLE image_facts ADD COLUMN region_counts TEXT;
  UPDATE image_facts SET class_counts = (SELECT json_group_object(class, boxes) FROM
    (SELECT value ->> 'class' AS class, count(*) AS boxes FROM job_images, json_each(outcome, '$.detections')
     WHERE job_images.task = image_facts.task GROUP BY 1))
  WHERE boxes > 0;
  -- When the picture was taken, as the clock on the wall showed it, and how that is known.
  ALTER TABLE image_facts ADD COLUMN taken TEXT;
  ALTER TABLE image_facts ADD COLUMN taken_from TEXT;
  -- The lowest confidence of each class, as JSON: a filter by class and confidence asks for one box that fits both.
  ALTER TABLE image_facts ADD COLUMN weakest_by_class TEXT NOT NULL DEFAULT '{}';
  UPDATE image_facts SET weakest_by_class =
    (SELECT json_group_object(class, weakest) FROM
      (SELECT value ->> 'class' AS class, min(value ->> 'confidence') AS weakest
       FROM job_images, json_each(outcome, '$.detections') WHERE job_images.task = image_facts.task GROUP BY 1))
  WHERE boxes > 0;
  `,
  `
  -- What people write on a job.
  ALTER TABLE jobs ADD COLUMN name TEXT;
  ALTER TABLE jobs ADD COLUMN tags TEXT NOT NULL DEFAULT '[]';
  ALTER TABLE jobs ADD COLUMN notes TEXT;
  -- Null: the retention time. 0: until the job is deleted. Else for so many days: by the clock since kept_at, which is
  -- shown, and by the running time of the store until kept_until_s, which counts.
  ALTER TABLE jobs ADD COLUMN keep_days INTEGER;
  ALTER TABLE jobs ADD COLUMN kept_at REAL;
  ALTER TABLE jobs ADD COLUMN kept_until_s REAL;
  -- The paths as they were typed: JSON of the first ones, and how many there were.
  ALTER TABLE jobs ADD COLUMN typed_paths TEXT;
  ALTER TABLE jobs ADD COLUMN typed_count INTEGER NOT NULL DEFAULT 1;
  UPDATE jobs SET typed_paths = json_array((SELECT path FROM job_images WHERE task = number * 1048576));

  DROP INDEX jobs_by_end;
  -- Those that age and the bound of the store remove.
  CREATE INDEX removable_jobs ON jobs (completed_at) WHERE completed_at IS NOT NULL AND keep_days IS NULL;
  CREATE INDEX kept_jobs ON jobs (kept_until_s) WHERE keep_days IS NOT NULL;

  -- What lists filter and order by, in one narrow row per job. Texts are without letter case.
  CREATE TABLE job_listings (
    job   INTEGER PRIMARY KEY REFERENCES jobs (number) ON DELETE CASCADE,
    title TEXT NOT NULL,
    model TEXT NOT NULL,
    -- Each once, between line breaks.
    marked_tags TEXT NOT NULL,
    text  TEXT NOT NULL,
    -- Later than any end: it has not ended.
    ended REAL NOT NULL
  ) STRICT;
  INSERT INTO job_listings (job, title, model, marked_tags, text, ended)
  SELECT number, fold_text(substr(coalesce(title, path), 1, 200)), model, '',
    fold_text(coalesce(title || char(10), '') || path), coalesce(completed_at, 9e15)
  FROM (SELECT number, completed_at, settings ->> '$.options.modelName' AS model, typed_paths ->> 0 AS path,
    CASE WHEN length(metadata) <= 4096 THEN coalesce(
      CASE WHEN json_type(metadata, '$.title') = 'text' THEN nullif(metadata ->> '$.title', '') END,
      CASE WHEN json_type(metadata, '$.name') = 'text' THEN nullif(metadata ->> '$.name', '') END) END AS title
    FROM jobs);
  CREATE INDEX jobs_in_order_of_title ON job_listings (title, job);
  CREATE INDEX jobs_in_order_of_end ON job_listings (ended, job);

  -- File names of drawn copies that belong to images of jobs; a copy may belong to several.
  CREATE TABLE drawn_copies (
    task INTEGER PRIMARY KEY REFERENCES job_images (task) ON DELETE CASCADE,
    name TEXT NOT NULL
  ) STRICT;
  INSERT INTO drawn_copies (task, name)
  SELECT task, outcome ->> 'annotatedPath' FROM job_images JOIN jobs ON number = task / 1048576
  WHERE settings ->> '$.annotate' AND outcome ->> 'annotatedPath' IS NOT NULL;
  CREATE INDEX drawn_copies_by_name ON drawn_copies (name);
  `,
  `
  -- Photos that were sent for a job. A row comes before its folder and goes before it.
  CREATE TABLE uploads (
    upload_id TEXT PRIMARY KEY,
    -- The API key; null without authentication.
    owner     TEXT,
    -- A job had it: without one it goes at once.
    taken     INTEGER NOT NULL DEFAULT 0,
    -- JSON: kind of each file that was left out, by its name.
    left_out  TEXT NOT NULL DEFAULT '{}'
  ) STRICT, WITHOUT ROWID;
  ALTER TABLE jobs ADD COLUMN upload TEXT;
  CREATE INDEX jobs_by_upload ON jobs (upload) WHERE upload IS NOT NULL;
  `,
  `
  -- What the result of an image depends on, as hashes: its file as it was, or the bytes of it. Null where it is not known.
  ALTER TABLE image_facts ADD COLUMN reuse_key TEXT;
  ALTER TABLE image_facts ADD COLUMN content_key TEXT;
  CREATE INDEX images_by_reuse_key ON image_facts (reuse_key) WHERE reuse_key IS NOT NULL;
  CREATE INDEX images_by_content_key ON image_facts (content_key) WHERE content_key IS NOT NULL;
  -- Images that took over a stored result.
  ALTER TABLE jobs ADD COLUMN reused INTEGER NOT NULL DEFAULT 0;
  ALTER TABLE outbox ADD COLUMN reused INTEGER NOT NULL DEFAULT 0;
  `,
  `
  -- JSON, with the end of a job: its boxes by class, and by region and class.
  ALTER TABLE outbox ADD COLUMN counts TEXT;
  `,
  `
  -- The name of the watch that made the job.
  ALTER TABLE jobs ADD COLUMN watch TEXT;
  CREATE INDEX jobs_by_watch ON jobs (watch, number) WHERE watch IS NOT NULL;
  ALTER TABLE outbox ADD COLUMN watch TEXT;

  CREATE TABLE watches (
    -- AUTOINCREMENT: files of a deleted watch are removed later and must never be those of another one.
    number     INTEGER PRIMARY KEY AUTOINCREMENT,
    -- The API key whose watch it is; empty without authentication.
    owner      TEXT NOT NULL,
    name       TEXT NOT NULL,
    created_at REAL NOT NULL,
    content    TEXT NOT NULL,
    -- JSON: those of its paths whose present files need no longer be told from new ones.
    listed     TEXT NOT NULL DEFAULT '[]',
    submitted  INTEGER NOT NULL DEFAULT 0,
    succeeded  INTEGER NOT NULL DEFAULT 0,
    failed     INTEGER NOT NULL DEFAULT 0,
    UNIQUE (owner, name)
  ) STRICT;

  -- The ledger: each version of a file that was submitted or left, once.
  CREATE TABLE watched_files (
    watch         INTEGER NOT NULL,
    path          TEXT NOT NULL,
    -- inode-size-modified; inode 0 where the volume does not keep the numbers.
    version       TEXT NOT NULL,
    -- The image of a job that has no outcome yet.
    task          INTEGER,
    -- 1: there were other files of this version, and this one was submitted all the same.
    copied        INTEGER NOT NULL DEFAULT 0,
    missing_since REAL,
    PRIMARY KEY (watch, path, version)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX watched_versions ON watched_files (watch, version);
  CREATE UNIQUE INDEX watched_tasks ON watched_files (task) WHERE task IS NOT NULL;
  CREATE INDEX watched_missing ON watched_files (missing_since) WHERE missing_since IS NOT NULL;
  -- Watches that are gone whose files still have to be deleted, a few at a time.
  CREATE TABLE dropped_watches (number INTEGER PRIMARY KEY) STRICT;
  `,
  `
  -- What the images of a job ran on: a row per model file and precision, the latest last. Jobs of earlier versions have none.
  CREATE TABLE job_models (
    job       INTEGER NOT NULL REFERENCES jobs (number) ON DELETE CASCADE,
    digest    TEXT NOT NULL,
    source    TEXT NOT NULL,
    precision TEXT NOT NULL,
    images    INTEGER NOT NULL,
    UNIQUE (job, digest, precision)
  ) STRICT;
  `,
  `
  -- The model's own name, where that of the job is an alias; NULL in rows of earlier versions, which had none.
  ALTER TABLE job_models ADD COLUMN name TEXT;
  -- Names that stand for models; a row per version, as of views.
  CREATE TABLE model_aliases (
    name      TEXT NOT NULL,
    version   INTEGER NOT NULL,
    stored_at REAL NOT NULL,
    -- JSON of an AliasContent; NULL: deleted.
    content   TEXT,
    -- The version that a rollback goes to; NULL: there is none.
    before    INTEGER,
    PRIMARY KEY (name, version)
  ) STRICT, WITHOUT ROWID;
  `,
  `
  -- Unix seconds; NULL in rows of earlier versions.
  ALTER TABLE uploads ADD COLUMN created_at REAL;
  `,
  KEY_USE,
  `
  -- All boxes of an image above the score floor of its job, before any question was asked of them: see
  -- src/boxes/found-boxes.ts. Images of earlier versions have none.
  CREATE TABLE image_boxes (
    task  INTEGER PRIMARY KEY REFERENCES job_images (task) ON DELETE CASCADE,
    found BLOB NOT NULL,
    -- JSON: the view whose regions the result of the job has.
    view  TEXT
  ) STRICT;
  `,
  COUNTS_BY_HOUR,
  CAMERA_HEALTH,
  `
  -- Places of cameras that people dismissed: boxes over them are left out of counts.
  CREATE TABLE dismissed_places (
    -- AUTOINCREMENT: the number of one that was deleted is never that of another one.
    id           INTEGER PRIMARY KEY AUTOINCREMENT,
    -- The API key; empty without authentication.
    owner        TEXT NOT NULL,
    -- The folder of the pictures.
    camera       TEXT NOT NULL,
    class_group  TEXT NOT NULL,
    -- JSON: corners in pixels of a picture of this size.
    box          TEXT NOT NULL,
    width        INTEGER NOT NULL,
    height       INTEGER NOT NULL,
    -- Unix seconds.
    dismissed_at REAL NOT NULL
  ) STRICT;
  CREATE INDEX dismissed_places_by_owner ON dismissed_places (owner);
  `,
  CAMERA_PLACES,
  `
  -- The pattern that takes the camera from the names of files, and that camera; null: all pictures of the folder.
  ALTER TABLE dismissed_places ADD COLUMN pattern TEXT;
  ALTER TABLE dismissed_places ADD COLUMN named TEXT;
  `,
  BOX_DESCRIPTORS,
  `
  -- What counts over jobs leave out of a job because a retry has run it again: see src/store/retried-jobs.ts.
  CREATE INDEX jobs_by_retry ON jobs (retry_of) WHERE retry_of IS NOT NULL;
  CREATE INDEX failed_images ON image_facts (task) WHERE failed;
  `,
];
