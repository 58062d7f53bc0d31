#!/usr/bin/env bash
# A copy of the primary, made once, which then follows it.
set -euo pipefail
export PGPASSWORD="$REPLICATION_PASSWORD"
if [ ! -s "$PGDATA/PG_VERSION" ]; then
    pg_basebackup --dbname "host=primary user=replication_user application_name=standby" --pgdata "$PGDATA" \
        --write-recovery-conf --wal-method stream --checkpoint fast
    chmod 0700 "$PGDATA"
fi
exec postgres
