#!/usr/bin/env bash
# Fetches the git of an older Debian, and prints the path of a program that runs it. Tests take it as their client with
# HAWSER_TEST_GIT. The argument is a folder that this script makes.
set -euo pipefail

package=git_2.30.2-1+deb11u2_amd64.deb
sha256=ddc8eb5da311dbf0ecfe4bd4da5f539aeecec22865828538b5c86039af2eca8c

folder=$1
mkdir -p "$folder"
folder=$(cd "$folder" && pwd)
[[ $(dpkg --print-architecture) == amd64 ]]
curl -fsS --retry 3 --max-time 60 -o "$folder/$package" "https://deb.debian.org/debian/pool/main/g/git/$package"
echo "$sha256  $folder/$package" | sha256sum --check --status
dpkg -x "$folder/$package" "$folder/root"
cat > "$folder/git" << END
#!/bin/sh
GIT_EXEC_PATH=$folder/root/usr/lib/git-core exec $folder/root/usr/bin/git "\$@"
END
chmod +x "$folder/git"
echo "$folder/git"
