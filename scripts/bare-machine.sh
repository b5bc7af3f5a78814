#!/usr/bin/env bash
# Tries the two commands at the top of the README on a machine that has only what the README asks for: it hides all other
# tools of this machine in namespaces of its own, and clones the commit that is checked out into a new home folder, which
# is closed to other users. It needs unshare and the right to mount: root, or a user who may make user namespaces.
#
#   scripts/bare-machine.sh                 both commands: first the tests, then the server
#   scripts/bare-machine.sh test            the second command, npm ci && npm test
#   scripts/bare-machine.sh start           the first one, until the server is ready; then it is stopped with SIGTERM
#   scripts/bare-machine.sh -- COMMAND...   another command, in the clone
#
# The output and the exit code are those of the command.
set -euo pipefail

# Names of programs, as patterns of the shell. None of them is in the row "npm test" of the README's requirements.
hidden_programs=(
  'chromium*' 'google-chrome*' firefox
  initdb postgres postmaster psql 'pg_*' pgbench createdb dropdb createuser dropuser vacuumdb
  apache2 nginx haproxy prometheus promtool 'prometheus-*'
  'systemd-*' systemctl dbus-daemon docker docker-compose podman
  fish jq pgrep pwsh ssh-keygen wget zip zsh
)
hidden_folders=(/usr/lib/postgresql /usr/lib/chromium /usr/lib/nginx /usr/share/fonts /usr/local/share/fonts /etc/fonts)
# Chromium's package for npm brings them.
hidden_libraries=(libnspr4.so libnss3.so libnssutil3.so libplc4.so libplds4.so libsmime3.so libsoftokn3.so)

main() { # arguments of the script
  local root status=0
  case ${1-both} in
    both | test | start | --) ;;
    *)
      echo 'the argument is test, start, or -- and a command' >&2
      exit 1
      ;;
  esac
  root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
  # Not in /tmp, because the bare machine has a /tmp of its own.
  work=$(mktemp -d /var/tmp/hawser-bare-XXXXXX)
  namespaces=
  trap clean_up EXIT
  trap 'exit 130' INT
  trap 'exit 143' TERM
  mkdir "$work/home" "$work/empty"
  mkdir -m 1777 "$work/tmp"
  git clone --quiet "$root" "$work/home/hawser"
  # This checkout may be in /tmp.
  cp "${BASH_SOURCE[0]}" "$work/bare-machine.sh"
  # The settings for the registry stay, such as a proxy or a certificate authority. What npm has downloaded before does not.
  if [[ -e ~/.npmrc ]]; then cp ~/.npmrc "$work/home/.npmrc"; fi
  local as_root=() user=$EUID:$(id -g)
  if ((EUID != 0)); then as_root=(--user --map-root-user); fi
  if ! unshare "${as_root[@]}" --mount --pid --fork --mount-proc true 2> "$work/refusal"; then
    echo "this user may not make a bare machine here: $(tail -n 1 "$work/refusal")" >&2
    exit 1
  fi
  # All processes of the bare machine end with this script, however it ends, and its mounts end with them.
  setpriv --pdeathsig KILL unshare "${as_root[@]}" --mount --pid --fork --kill-child=KILL --mount-proc \
    bash "$work/bare-machine.sh" --inside "$work" "$user" "$@" < /dev/null &
  namespaces=$!
  wait "$namespaces" || status=$?
  exit "$status"
}

clean_up() {
  trap '' INT TERM
  if [[ -n $namespaces ]]; then
    kill -KILL "$namespaces" 2> /dev/null || true
    wait "$namespaces" 2> /dev/null || true
  fi
  # The last processes may still be ending.
  rm -rf "$work" 2> /dev/null || { sleep 1 && rm -rf "$work"; }
}

inside() { # work, user:group outside, arguments of the script
  work=$1
  local user=$2 command=(bash "$work/bare-machine.sh" --run)
  shift 2
  hide_all
  export HOME=$work/home
  cd "$HOME/hawser"
  # A user who became root only to mount is itself again for the tests.
  if [[ $user != 0:* ]]; then
    command=(unshare --user "--map-user=${user%:*}" "--map-group=${user#*:}" -- "${command[@]}")
  fi
  local name
  for name in $(compgen -e | grep -E '^(HAWSER_|TESTS_|TMPDIR$|npm_config_cache$|NODE_OPTIONS$|XDG_)'); do
    # .ci/run asks for a second try of a file that fails.
    if [[ $name != TESTS_AGAIN ]]; then unset "$name"; fi
  done
  # Not exec: the first process of a namespace must fetch what others leave behind.
  local status=0
  "${command[@]}" "$@" || status=$?
  exit "$status"
}

hide_all() {
  local folder file library
  export PATH=$PATH:/usr/local/sbin:/usr/sbin:/sbin
  mount --bind "$work/tmp" /tmp
  mount -t tmpfs -o mode=1777 tmpfs /dev/shm
  # Debian's package of PostgreSQL has made a user, which a bare machine has not got.
  grep -v '^postgres:' /etc/passwd > "$work/passwd"
  mount --bind "$work/passwd" /etc/passwd
  for folder in "${hidden_folders[@]}"; do
    if [[ -d $folder ]]; then mount --bind "$work/empty" "$folder"; fi
  done
  mkdir "$work/layers"
  mount -t tmpfs tmpfs "$work/layers"
  while read -r file; do remove "$file"; done < <(found_programs)
  for library in "${hidden_libraries[@]}"; do
    for file in /usr/lib/"$library" /usr/lib64/"$library" /usr/lib/*/"$library"; do
      if [[ -e $file ]]; then remove "$file"; fi
    done
  done
  local left
  hash -r
  left=$(found_programs)
  if [[ -n $left ]]; then
    echo "these programs could not be hidden: ${left//$'\n'/ }" >&2
    exit 1
  fi
}

# Removes a file for this namespace alone. Its folder gets a layer, in which the file is marked as gone.
remove() { # path
  local folder layer
  folder=$(realpath "$(dirname "$1")")
  layer=$work/layers$folder
  if [[ ! -d $layer/upper ]]; then
    mkdir -p "$layer/upper" "$layer/work"
    mount -t overlay overlay -o "lowerdir=$folder,upperdir=$layer/upper,workdir=$layer/work" "$folder"
  fi
  rm -f "$folder/$(basename "$1")"
}

# The paths of all programs with a name that is hidden.
found_programs() {
  local names=$(printf '%s\n' "${hidden_programs[@]}" | sed 's/\./\\./g; s/\*/.*/g') name
  for name in $(compgen -c | grep -xE "$names" | sort -u); do
    if command -v "$name" > /dev/null; then type -aP "$name" || command -v "$name"; fi
  done
}

run() { # arguments of the script
  local commands
  mapfile -t commands < <(awk '/^```/ { fences++; next } fences == 1' README.md)
  if [[ ${commands[0]-} != *'npm start' || ${commands[1]-} != *'npm test' ]]; then
    echo 'the README does not open with the two commands' >&2
    exit 1
  fi
  case ${1-both} in
    both)
      run_tests "${commands[1]}"
      run_server "${commands[0]}"
      ;;
    test) run_tests "${commands[1]}" ;;
    start) run_server "${commands[0]}" ;;
    --) "${@:2}" ;;
  esac
}

run_tests() { # command
  echo "== on a bare machine: $1"
  bash -c "$1"
}

# Starts the server, waits until it is ready, and stops it.
run_server() { # command
  local log=$HOME/server.log server status=0 deadline=$((SECONDS + 900)) port=
  echo "== on a bare machine: $1"
  # Another server may have the port that is the default.
  export HAWSER_PORT=0
  # The server gets its own process group, which is stopped as a whole. The shell that started the server must survive
  # the signal, so that it can pass on the server's exit code.
  set -m
  bash -c "trap : TERM; $1" > "$log" 2>&1 &
  server=$!
  set +m
  until [[ -n $port ]] && curl -fsS --cacert data/tls/ca.crt "https://localhost:$port/health/ready"; do
    if ! kill -0 "$server" 2> /dev/null || ((SECONDS > deadline)); then
      cat "$log"
      echo 'the server did not become ready' >&2
      exit 1
    fi
    sleep 0.2
    port=$(sed -nE 's#.*"url":"https://localhost:([0-9]+)".*"msg":"listening".*#\1#p' "$log")
  done
  kill -TERM -- "-$server"
  wait "$server" || status=$?
  echo
  echo "the server was ready, and stopped with SIGTERM it ended with exit code $status"
  if ((status != 0)); then tail -n 20 "$log"; fi
  return "$status"
}

case ${1-} in
  --inside) shift && inside "$@" ;;
  --run) shift && run "$@" ;;
  *) main "$@" ;;
esac
