/** The tables of the health of cameras, see `health-rows.ts`. Released: it never changes. */
export const CAMERA_HEALTH = `
  -- Times are wall times in seconds, those of arrival Unix times. Pictures that are still to be taken in.
  CREATE TABLE camera_pictures (
    task       INTEGER PRIMARY KEY,
    watch      INTEGER NOT NULL REFERENCES watches (number) ON DELETE CASCADE,
    camera     TEXT NOT NULL,
    time       REAL NOT NULL,
    arrived_at REAL NOT NULL,
    grey       BLOB NOT NULL,
    sharpness  REAL NOT NULL,
    digest     TEXT,
    boxes      INTEGER NOT NULL,
    confidence REAL
  ) STRICT;
  CREATE INDEX camera_pictures_by_arrival ON camera_pictures (arrived_at);
  CREATE INDEX camera_pictures_in_order ON camera_pictures (watch, camera, time, task);

  CREATE TABLE camera_health (
    number     INTEGER PRIMARY KEY,
    watch      INTEGER NOT NULL REFERENCES watches (number) ON DELETE CASCADE,
    camera     TEXT NOT NULL,
    -- Its last picture.
    time       REAL NOT NULL,
    task       INTEGER NOT NULL,
    arrived_at REAL NOT NULL,
    -- Seconds without a picture; NULL: it cannot become late.
    late_after REAL,
    -- JSON: findings; those that are closed with the newest first.
    open       TEXT NOT NULL,
    closed     TEXT NOT NULL,
    -- JSON of a CameraHealth without its open findings.
    health     TEXT NOT NULL,
    UNIQUE (watch, camera)
  ) STRICT;
  CREATE INDEX cameras_by_arrival ON camera_health (watch, arrived_at, late_after);

  -- JSON of a FindingNews; NULL: it is about the job.
  ALTER TABLE outbox ADD COLUMN finding TEXT;
  ALTER TABLE webhook_deliveries ADD COLUMN finding TEXT;
`;
