#!/usr/bin/env bash
# A copy of the primary, made once, which then follows it by its slot.
set -euo pipefail
export PGPASSWORD="$REPLICATION_PASSWORD"
if [ ! -s "$PGDATA/PG_VERSION" ]; then
    pg_basebackup --dbname "host=${PRIMARY:-primary} port=${PRIMARY_PORT:-5432} user=replication_user application_name=standby" \
        --pgdata "$PGDATA" --write-recovery-conf --wal-method stream --slot standby --checkpoint fast
    chmod 0700 "$PGDATA"
fi
exec postgres "$@"
