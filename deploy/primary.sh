#!/usr/bin/env bash
# Runs once, when the database of the primary is made. From the next start on, writes wait for the standby, a slot keeps the WAL
# that it has not received yet, and all WAL goes to the archive.
set -euo pipefail
psql --username "$POSTGRES_USER" --dbname "$POSTGRES_DB" --set ON_ERROR_STOP=1 \
    --set password="$REPLICATION_PASSWORD" --set archive="${ARCHIVE:-/archive}" <<'SQL'
CREATE ROLE replication_user LOGIN REPLICATION PASSWORD :'password';
SELECT pg_create_physical_replication_slot('standby');
-- A standby that stays away must not fill the disk: then it is copied again.
ALTER SYSTEM SET max_slot_wal_keep_size = '8GB';
ALTER SYSTEM SET synchronous_standby_names = 'ANY 1 (standby)';
ALTER SYSTEM SET archive_mode = on;
SELECT format('ALTER SYSTEM SET archive_command = %L',
    format('test ! -f %1$s/%%f && cp %%p %1$s/%%f.part && mv %1$s/%%f.part %1$s/%%f', :'archive')) \gexec
SQL
echo "host replication replication_user samenet scram-sha-256" >> "$PGDATA/pg_hba.conf"
