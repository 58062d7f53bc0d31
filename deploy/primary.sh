#!/usr/bin/env bash
# Runs once, when the database of the primary is made: lets the standby follow, and has writes wait for it from the next start on.
set -euo pipefail
psql --username "$POSTGRES_USER" --dbname "$POSTGRES_DB" --set ON_ERROR_STOP=1 --set password="$REPLICATION_PASSWORD" <<'SQL'
CREATE ROLE replication_user LOGIN REPLICATION PASSWORD :'password';
ALTER SYSTEM SET synchronous_standby_names = 'ANY 1 (standby)';
SQL
echo "host replication replication_user samenet scram-sha-256" >> "$PGDATA/pg_hba.conf"
