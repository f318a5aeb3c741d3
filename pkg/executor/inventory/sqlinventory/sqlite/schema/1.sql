-- executors_running has a row for each lifecycle instance; docs/inventory.md describes the columns. Times are
-- microseconds since 1970 in UTC; '' stands for what is absent.
CREATE TABLE executors_running (
    instance_id     TEXT    NOT NULL PRIMARY KEY,
    executor_id     TEXT    NOT NULL,
    profile_id      TEXT    NOT NULL,
    task_id         TEXT    NOT NULL,
    session_id      TEXT    NOT NULL,
    environment_id  TEXT    NOT NULL,
    name            TEXT    NOT NULL,
    namespace       TEXT    NOT NULL,
    state           TEXT    NOT NULL,
    generation      INTEGER NOT NULL,
    owner           TEXT    NOT NULL,
    epoch           INTEGER NOT NULL,
    main_container  TEXT    NOT NULL,
    workspace_mode  TEXT    NOT NULL,
    snapshot_sha256 TEXT    NOT NULL,
    intents         TEXT    NOT NULL,
    pod_name        TEXT    NOT NULL,
    pod_uid         TEXT    NOT NULL,
    claim_name      TEXT    NOT NULL,
    claim_uid       TEXT    NOT NULL,
    control_port    INTEGER NOT NULL,
    failure_code    TEXT    NOT NULL,
    failure_kind    TEXT    NOT NULL,
    failure_name    TEXT    NOT NULL,
    created_at      INTEGER NOT NULL,
    updated_at      INTEGER NOT NULL
) STRICT;

-- Written once, read to replace a lost Pod.
CREATE TABLE launch_snapshots (
    instance_id TEXT NOT NULL PRIMARY KEY REFERENCES executors_running (instance_id) ON DELETE CASCADE,
    encoded     TEXT NOT NULL
) STRICT;

CREATE TABLE inventory_schema_version (
    version    INTEGER NOT NULL PRIMARY KEY,
    applied_at INTEGER NOT NULL
) STRICT;
