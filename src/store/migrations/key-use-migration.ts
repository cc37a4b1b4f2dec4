/**
 * The migration that counts the bytes and jobs that each API key has in the store; triggers keep the counts right and
 * `key-use-rows.ts` reads them. Beside `schema.ts` because of its length. Its numbers are those of the release that
 * wrote it: 1400 and 480 were the means of jobs then. Views have no trigger of UPDATE: their versions are inserted and
 * deleted only.
 */
export const KEY_USE = `
  -- About what the job takes in the file, with its images, results and events; of jobs of earlier versions by their images.
  ALTER TABLE jobs ADD COLUMN bytes INTEGER NOT NULL DEFAULT 0;
  UPDATE jobs SET bytes = 1400 + 480 * image_count;
  -- Webhooks that are still to be sent.
  ALTER TABLE jobs ADD COLUMN awaited INTEGER NOT NULL DEFAULT 0;
  UPDATE jobs SET awaited = (SELECT count(*) FROM webhook_deliveries WHERE job = number AND state = 'pending')
  WHERE number IN (SELECT job FROM webhook_deliveries WHERE state = 'pending');
  -- Neither age nor the bound of the store removes it.
  ALTER TABLE jobs ADD COLUMN stays INTEGER NOT NULL
    AS (completed_at IS NULL OR keep_days IS NOT NULL OR awaited > 0) VIRTUAL;
  -- By owner: the oldest of one key, and the oldest of all.
  DROP INDEX removable_jobs;
  CREATE INDEX removable_jobs ON jobs (key_id, completed_at) WHERE completed_at IS NOT NULL AND keep_days IS NULL;

  -- What each API key has in the store; the owner is empty without authentication. The triggers keep it right.
  CREATE TABLE key_use (
    owner      TEXT PRIMARY KEY,
    bytes      INTEGER NOT NULL DEFAULT 0,
    -- Of these, what must stay.
    staying    INTEGER NOT NULL DEFAULT 0,
    unfinished INTEGER NOT NULL DEFAULT 0
  ) STRICT, WITHOUT ROWID;
  INSERT INTO key_use (owner, bytes, staying, unfinished)
  SELECT owner, sum(bytes), sum(staying), sum(unfinished) FROM
    (SELECT coalesce(key_id, '') AS owner, bytes, bytes * stays AS staying, completed_at IS NULL AS unfinished FROM jobs
     UNION ALL SELECT owner, 200 + length(coalesce(content, '')), 200 + length(coalesce(content, '')), 0 FROM views)
  GROUP BY owner;

  CREATE TRIGGER use_of_new_job AFTER INSERT ON jobs BEGIN
    INSERT INTO key_use (owner, bytes, staying, unfinished)
    VALUES (coalesce(NEW.key_id, ''), NEW.bytes, NEW.bytes * NEW.stays, NEW.completed_at IS NULL)
    ON CONFLICT DO UPDATE SET bytes = bytes + excluded.bytes, staying = staying + excluded.staying,
      unfinished = unfinished + excluded.unfinished;
  END;
  CREATE TRIGGER use_of_job AFTER UPDATE OF bytes, completed_at, keep_days, awaited ON jobs BEGIN
    UPDATE key_use SET bytes = bytes + NEW.bytes - OLD.bytes,
      staying = staying + NEW.bytes * NEW.stays - OLD.bytes * OLD.stays,
      unfinished = unfinished + (NEW.completed_at IS NULL) - (OLD.completed_at IS NULL)
    WHERE owner = coalesce(NEW.key_id, '');
  END;
  CREATE TRIGGER use_of_removed_job AFTER DELETE ON jobs BEGIN
    UPDATE key_use SET bytes = bytes - OLD.bytes, staying = staying - OLD.bytes * OLD.stays,
      unfinished = unfinished - (OLD.completed_at IS NULL)
    WHERE owner = coalesce(OLD.key_id, '');
  END;
  CREATE TRIGGER use_of_new_view AFTER INSERT ON views BEGIN
    INSERT INTO key_use (owner, bytes, staying)
    VALUES (NEW.owner, 200 + length(coalesce(NEW.content, '')), 200 + length(coalesce(NEW.content, '')))
    ON CONFLICT DO UPDATE SET bytes = bytes + excluded.bytes, staying = staying + excluded.staying;
  END;
  CREATE TRIGGER use_of_removed_view AFTER DELETE ON views BEGIN
    UPDATE key_use SET bytes = bytes - 200 - length(coalesce(OLD.content, '')),
      staying = staying - 200 - length(coalesce(OLD.content, ''))
    WHERE owner = OLD.owner;
  END;
  CREATE TRIGGER new_webhook_is_awaited AFTER INSERT ON webhook_deliveries WHEN NEW.state = 'pending' BEGIN
    UPDATE jobs SET awaited = awaited + 1 WHERE number = NEW.job;
  END;
  CREATE TRIGGER webhook_is_awaited AFTER UPDATE OF state ON webhook_deliveries WHEN OLD.state <> NEW.state BEGIN
    UPDATE jobs SET awaited = awaited + (NEW.state = 'pending') - (OLD.state = 'pending') WHERE number = NEW.job;
  END;
  `;
