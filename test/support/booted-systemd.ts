/**
 * A machine of its own, booted by systemd in a container (systemd-nspawn) from the file system of this one. What is written
 * there goes to memory. It has no network but its loopback, and this checkout is where the package would be installed.
 */

import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { PROJECT } from '../../scripts/support/project.ts';
import type { Condition } from './optional-tools.ts';
import type { Ended } from './spawned.ts';

const PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';

/** The folder in which npm installs a package with --prefix /opt/hawser. */
const PACKAGE = '/opt/hawser/lib/node_modules/hawser';

/**
 * Prepares the file system in a mount namespace, and becomes systemd-nspawn, which ends with the tests. The control groups
 * of two runs must differ, because each systemd manages all groups below its own.
 */
const BOOT = `
set -eu
folder=$1 group=$2 node=$3 project=$4
for tree in /sys/fs/cgroup/systemd /sys/fs/cgroup/unified /sys/fs/cgroup; do
  if [ -e "$tree/cgroup.procs" ] && mkdir "$tree/$group"; then echo $$ > "$tree/$group/cgroup.procs"; fi
done
mount -t tmpfs tmpfs /run
mount -t tmpfs tmpfs "$folder"
cd "$folder"
mkdir upper work root
mount -t overlay overlay -o lowerdir=/,upperdir=upper,workdir=work root
: > root/etc/machine-id
mkdir -p root/opt/hawser/bin "root${PACKAGE}"
for name in hawser:.build/main.js hawser-run:scripts/systemd/hawser-run; do
  ln -s "../lib/node_modules/hawser/\${name#*:}" "root/opt/hawser/bin/\${name%%:*}"
done
exec setpriv --pdeathsig TERM systemd-nspawn --quiet --directory=root --boot --register=no --keep-unit --private-network --link-journal=no \\
  --resolv-conf=off --timezone=off --machine="$group" --console=pipe --bind-ro="$project:${PACKAGE}" \\
  --bind-ro="$node:/usr/local/bin/node" -- systemd.unit=basic.target systemd.mask=timers.target
`;

/** Milliseconds for which a boot may take. */
const PATIENCE = 60_000;

export class BootedSystemd {
  private readonly container: ChildProcess;
  private readonly folder: string;
  private readonly group: string;
  private output = '';

  private constructor() {
    this.folder = mkdtempSync(join(tmpdir(), 'hawser-systemd-'));
    this.group = `hawser-test-${process.pid}`;
    const args = [this.folder, this.group, realpathSync(process.execPath), PROJECT];
    this.container = spawn('unshare', ['--mount', 'sh', '-c', BOOT, 'sh', ...args], {
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    for (const stream of [this.container.stdout, this.container.stderr])
      stream?.on('data', (chunk: Buffer) => (this.output += chunk.toString('utf8')));
  }

  /** Whether this user may boot one here. Some sandboxes forbid it, as they forbid mounts. */
  static async booting(): Promise<Condition> {
    return { isMet: await BootedSystemd.mayBoot(), otherwise: 'this user or machine may not boot one' };
  }

  private static async mayBoot(): Promise<boolean> {
    if (process.getuid?.() !== 0) return false;
    try {
      await (await BootedSystemd.boot()).stop();
      return true;
    } catch {
      return false;
    }
  }

  /** @returns when the machine has booted */
  static async boot(): Promise<BootedSystemd> {
    const machine = new BootedSystemd();
    try {
      await machine.booted();
      return machine;
    } catch (error) {
      await machine.stop();
      throw error;
    }
  }

  /** Runs lines of a shell as root of the machine, until one fails. */
  async run(lines: string): Promise<Ended> {
    const init = this.init();
    if (init === null) throw new Error(`the machine has ended: ${this.output}`);
    const namespaces = ['--mount', '--uts', '--ipc', '--net', '--pid', '--cgroup'];
    const args = ['-t', init, ...namespaces, 'env', '-i', `PATH=${PATH}`, 'sh', '-ec', `cd /root\n${lines}`];
    const child = spawn('nsenter', args, { stdio: ['ignore', 'pipe', 'pipe'] });
    let [stdout, stderr] = ['', ''];
    child.stdout.on('data', (chunk: Buffer) => (stdout += chunk.toString('utf8')));
    child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString('utf8')));
    const [code] = await once(child, 'close');
    return { code, stdout, stderr };
  }

  /** Runs lines that must succeed. @returns what they print to stdout */
  async do(lines: string): Promise<string> {
    const { code, stdout, stderr } = await this.run(lines);
    if (code !== 0) throw new Error(`${lines}\nended with ${code}:\n${stdout}${stderr}`);
    return stdout;
  }

  async stop(): Promise<void> {
    if (this.container.exitCode === null && this.container.signalCode === null) {
      const closed = once(this.container, 'close');
      const init = this.init();
      // All processes of the machine end with its first one, and then the container does.
      if (init === null) this.container.kill('SIGKILL');
      else process.kill(Number(init), 'SIGKILL');
      await closed;
    }
    rmSync(this.folder, { recursive: true, force: true });
    const trees = ['systemd', 'unified', ''].map((tree) => join('/sys/fs/cgroup', tree, this.group));
    spawnSync('find', [...trees, '-depth', '-type', 'd', '-exec', 'rmdir', '{}', ';']);
  }

  /** The process id, outside, of the first process of the machine. */
  private init(): string | null {
    try {
      const { pid } = this.container;
      return readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ').at(-1) || null;
    } catch {
      return null;
    }
  }

  private async booted(): Promise<void> {
    const end = Date.now() + PATIENCE;
    while (Date.now() < end && this.container.exitCode === null) {
      const { stdout } =
        this.init() === null ? { stdout: '' } : await this.run('systemctl is-active basic.target');
      if (stdout === 'active\n') return;
      await setTimeout(100);
    }
    throw new Error(`systemd did not boot: ${this.output}`);
  }
}
