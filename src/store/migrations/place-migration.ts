/** The tables of `place-fold.ts` and `camera-event-fold.ts`. Released: they never change. */
export const CAMERA_PLACES = `
  CREATE TABLE camera_places (
    number     INTEGER PRIMARY KEY,
    watch      INTEGER NOT NULL REFERENCES watches (number) ON DELETE CASCADE,
    camera     TEXT NOT NULL,
    -- Unix time of its last pictures.
    arrived_at REAL NOT NULL,
    -- JSON of its places and of what was told of them.
    places     TEXT NOT NULL,
    UNIQUE (watch, camera)
  ) STRICT;
  CREATE INDEX places_by_arrival ON camera_places (watch, arrived_at);

  -- The event of each camera that goes on.
  CREATE TABLE camera_events (
    number     INTEGER PRIMARY KEY,
    watch      INTEGER NOT NULL REFERENCES watches (number) ON DELETE CASCADE,
    camera     TEXT NOT NULL,
    -- Unix times: of its last pictures, and when it is over without another one.
    arrived_at REAL NOT NULL,
    ends_at    REAL NOT NULL,
    -- JSON of a PictureEvent.
    event      TEXT NOT NULL,
    UNIQUE (watch, camera)
  ) STRICT;
  CREATE INDEX events_by_arrival ON camera_events (watch, arrived_at);
  CREATE INDEX events_by_end ON camera_events (ends_at);

  -- Pictures that do not count for the health of their camera have no look.
  ALTER TABLE camera_pictures RENAME TO looked_at;
  DROP INDEX camera_pictures_by_arrival;
  DROP INDEX camera_pictures_in_order;
  CREATE TABLE camera_pictures (
    task       INTEGER PRIMARY KEY,
    watch      INTEGER NOT NULL REFERENCES watches (number) ON DELETE CASCADE,
    camera     TEXT NOT NULL,
    time       REAL NOT NULL,
    arrived_at REAL NOT NULL,
    grey       BLOB,
    sharpness  REAL,
    digest     TEXT,
    boxes      INTEGER NOT NULL,
    confidence REAL
  ) STRICT;
  INSERT INTO camera_pictures SELECT * FROM looked_at;
  DROP TABLE looked_at;
  CREATE INDEX camera_pictures_by_arrival ON camera_pictures (arrived_at);
  CREATE INDEX camera_pictures_in_order ON camera_pictures (watch, camera, time, task);

  -- JSON of a CameraNews; NULL: it is about the job.
  ALTER TABLE outbox RENAME COLUMN finding TO news;
  ALTER TABLE webhook_deliveries RENAME COLUMN finding TO news;
`;
