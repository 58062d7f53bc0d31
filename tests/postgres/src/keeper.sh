# Waits for the end of its input. Then ends all processes that were started with a path in $FOLDER, and removes it.

# They and their children.
members() {
    ps -A -ww -o pid= -o ppid= -o args= | awk '
        index($0, ENVIRON["FOLDER"]) { print $1; is_one[$1] = 1 }
        { parent[$1] = $2 }
        END { for (process in parent) if (parent[process] in is_one) print process }'
}

read -r _
# A process that is paused gets the signal first, so that it does nothing more.
all=$(members)
# The list is one of words.
# shellcheck disable=SC2086
[ -z "$all" ] || { kill -QUIT $all; kill -CONT $all; }
tries=0
while all=$(members) && [ -n "$all" ]; do
    # shellcheck disable=SC2086
    [ "$tries" -lt 100 ] || kill -KILL $all
    tries=$((tries + 1))
    sleep 0.05
done
# What a killed server left behind: it removes its shared memory when it ends by itself. The id is in line 7.
[ ! -f "$FOLDER/data/postmaster.pid" ] || ipcrm -m "$(awk 'NR == 7 { print $2 }' "$FOLDER/data/postmaster.pid")"
rm -rf "$FOLDER"
