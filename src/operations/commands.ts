/**
 * The commands of operation, in the order in which the help lists them. `serve` is defined in serve.ts. Each command loads
 * its code when it runs: `health` is called all day long, and needs none of the others' code.
 */

import { rmSync } from 'node:fs';
import { get as getOverHttp, type IncomingMessage } from 'node:http';
import { get as getOverTls } from 'node:https';
import { setPriority } from 'node:os';
import { text } from 'node:stream/consumers';
import { type Config, ConfigError } from '../config.ts';
import { SECOND } from '../lib/clock.ts';
import { UsageError } from '../lib/command-words.ts';
import { writeRunRecord } from '../lib/run-record.ts';
import type { Command } from './command-line.ts';

/** How long the server may take to answer, in milliseconds. */
const HEALTH_PATIENCE = 5 * SECOND;
/** The addresses of this machine at which a server is asked that listens on all addresses. */
const OWN_ADDRESS: Record<string, string> = { '0.0.0.0': '127.0.0.1', '::': '::1' };
/** The priority of a backup, as `nice` counts it. Git, which does most of the work, inherits it. */
const BACKUP_NICENESS = 10;

/** `hawser health`, for container engines. */
export const health: Command = {
  name: 'health',
  help: 'ask the server that runs here whether it is ready; exit code 1 when it is not, or does not answer',
  async run({ config }) {
    if (config.port === 0)
      throw new ConfigError('HAWSER_PORT', '0 does not say which port was taken', '1 to 65535');
    const { ready, said } = await askReadiness(config).catch((error: Error) => {
      return { ready: false, said: `no answer: ${error.message}` };
    });
    process.stdout.write(`${said}\n`);
    return ready ? 0 : 1;
  },
};

const reload: Command = {
  name: 'reload',
  help: 'make the server that uses HAWSER_DATA_DIR read its files anew; exit code 1 when it refuses them, and why',
  needsNoSecrets: true,
  async run({ config }) {
    const { requestReload } = await import('./reload.ts');
    const faults = await requestReload(config.dataDir);
    for (const fault of faults) process.stderr.write(`hawser: ${fault}\n`);
    if (faults.length === 0) process.stdout.write('The server has taken its files anew.\n');
    return faults.length === 0 ? 0 : 1;
  },
};

const status: Command = {
  name: 'status',
  help: 'list the servers that use the database, and say which leads; exit code 1 when something is not well, and what to do',
  async run({ config }) {
    const { readStatus } = await import('./status.ts');
    const { lines, fault } = await readStatus(config);
    process.stdout.write(lines.map((line) => `${line}\n`).join(''));
    if (fault !== null) process.stderr.write(`hawser: ${fault}\n`);
    return fault === null ? 0 : 1;
  },
};

const doctor: Command = {
  name: 'doctor',
  help: 'look at everything kept, changing nothing; exit code 1 when there are errors, 0 with no more than warnings. --record keeps the number of findings for the metrics',
  options: { json: null, record: null },
  async run({ config, clock, options }) {
    const { diagnose } = await import('./doctor/doctor.ts');
    const now = clock.now();
    const { report, isHealthy, findings } = await diagnose(config, now, options['json'] === true);
    process.stdout.write(report);
    if (options['record'] === true)
      await writeRunRecord({ dataDir: config.dataDir, name: 'doctor', now }, { findings });
    return isHealthy ? 0 : 1;
  },
};

const verify: Command = {
  name: 'verify',
  help: 'make again from the repositories what a checksum stands for, and compare; exit code 1 where it differs',
  positionals: ['checksum'],
  async run({ config, positionals: [checksum = ''] }) {
    const { verifyChecksum } = await import('./verify.ts');
    const differences = await verifyChecksum(config, checksum);
    const lines = differences.length === 0 ? ['match'] : differences;
    process.stdout.write(lines.map((line) => `${line}\n`).join(''));
    return differences.length === 0 ? 0 : 1;
  },
};

const backup: Command = {
  name: 'backup',
  help:
    'write everything into one new archive, while the server may go on serving: the file, or with --into one in that ' +
    'folder, which --keep-days and --keep-bytes (such as 50GiB) then rid of old archives. The keys of secrets are left out, ' +
    'unless --with-keys takes them along',
  positionals: ['file'],
  insteadOf: 'into',
  options: { into: 'folder', 'keep-days': 'number', 'keep-bytes': 'size', 'with-keys': null },
  async run({ config, clock, positionals: [given], options }) {
    const { backUp } = await import('./backup/backup.ts');
    const { archivePath, readKeep, rotate } = await import('./backup/rotation.ts');
    const now = clock.now();
    const { into, 'keep-days': days, 'keep-bytes': size } = options as Partial<Record<string, string>>;
    const keep = readKeep(days, size);
    if (into === undefined && (days ?? size) !== undefined)
      throw new UsageError('backup: --keep-days and --keep-bytes need --into, which names the folder');
    const file = into === undefined ? (given ?? '') : archivePath(into, now);
    try {
      setPriority(BACKUP_NICENESS);
    } catch {
      // The machine does not allow it, so the backup runs like any other program.
    }
    const withKeys = options['with-keys'] === true;
    const made = await backUp({ config, file, now, withKeys, onStaging: removeOnSignal });
    const { repositories, refs, bytes } = made;
    process.stdout.write(
      `${file}: the database and ${repositories} repositories with ${refs} refs, ${bytes} bytes\n`,
    );
    await recordBackup(config.dataDir, now, bytes);
    if (into === undefined) return 0;
    const { removed, unreadable } = await rotate(into, keep, now);
    for (const path of removed) process.stdout.write(`removed ${path}\n`);
    for (const path of unreadable)
      process.stderr.write(`${path} is no whole archive, or of a newer release; it is left as it is\n`);
    return 0;
  },
};

const restore: Command = {
  name: 'restore',
  help: 'bring what such an archive holds into HAWSER_DATA_DIR and HAWSER_REPOS_DIR, which must be empty',
  positionals: ['file'],
  async run({ config, positionals: [file = ''] }) {
    const { restore } = await import('./backup/restore.ts');
    const { createdAt, hawser, counts, hasKeys, missingKeys } = await restore(config, file);
    process.stdout.write(
      `restored the database and ${counts.repositories} repositories as of ${createdAt} (Hawser ${hawser})\n`,
    );
    if (hasKeys && config.secretsKeyFile !== null)
      process.stdout.write(
        `the keys of secrets are in secrets.key in the data folder; bring its lines into ${config.secretsKeyFile}\n`,
      );
    for (const id of missingKeys)
      process.stdout.write(
        `the key ${id} of secrets is missing: bring the key file before the server starts ` +
          '(docs/operating.md, "Keys of secrets")\n',
      );
    return 0;
  },
};

const resetAdminPassword: Command = {
  name: 'reset-admin-password',
  help: 'give an administrator a new random password, shown once or written to a new file; the server may be running',
  options: { username: 'name', 'password-file': 'new file' },
  async run({ config, clock, options }) {
    const { resetAdminPassword } = await import('./password-reset.ts');
    const { username = 'admin', 'password-file': file = null } = options as Partial<Record<string, string>>;
    const show = (password: string) => process.stdout.write(`${password}\n`);
    await resetAdminPassword({ place: config, username, passwordFile: file, show, now: clock.now() });
    const where = file === null ? 'above' : `in ${file}`;
    process.stderr.write(
      `The password ${where} is for "${username}" and must be changed at the next sign-in.\n`,
    );
    return 0;
  },
};

const rotateSecretsKey: Command = {
  name: 'rotate-secrets-key',
  help: 'put a new key at the top of the file of the keys of secrets, and name it in the database; the server may be running, and takes it with SIGHUP',
  async run({ config, clock }) {
    const { rotateSecretsKey } = await import('./rotate-secrets-key.ts');
    const lines = await rotateSecretsKey(config, clock.now());
    process.stdout.write(lines.map((line) => `${line}\n`).join(''));
    return 0;
  },
};

const allowReveal: Command = {
  name: 'allow-reveal',
  help: 'let a user see secrets in the clear, by the role "Secret readers", which is made where it is absent; the server may be running',
  options: { username: 'name' },
  required: ['username'],
  async run({ config, clock, options }) {
    const { allowReveal } = await import('./allow-reveal.ts');
    const { username = '' } = options as Partial<Record<string, string>>;
    process.stdout.write(`${await allowReveal(config, username, clock.now())}\n`);
    return 0;
  },
};

const adopt: Command = {
  name: 'adopt',
  help: 'take the published versions of a Git repository or bundle, for instance into configurations/web; the server may be running',
  positionals: ['kind/name', 'repository or bundle'],
  async run({ config, clock, positionals: [target = '', path = ''] }) {
    const { adopt } = await import('./adopt.ts');
    const tell = (line: string) => void process.stdout.write(`${line}\n`);
    return (await adopt({ config, target, path, now: clock.now(), tell })) ? 0 : 1;
  },
};

export const OPERATIONS: readonly Command[] = [
  ...[health, status, reload, doctor, verify, backup, restore, adopt, resetAdminPassword],
  ...[rotateSecretsKey, allowReveal],
];

/** The archive is there whatever becomes of the note, so this does not fail. */
async function recordBackup(dataDir: string, now: number, bytes: number): Promise<void> {
  await writeRunRecord({ dataDir, name: 'backup', now }, { bytes }).catch((error: NodeJS.ErrnoException) => {
    // With PostgreSQL a backup may run where no server does.
    if (error.code !== 'ENOENT')
      process.stderr.write(`the metrics cannot be told of this backup: ${error.message}\n`);
  });
}

/** @throws the connection's error */
async function askReadiness({ host, port, tls }: Config): Promise<{ ready: boolean; said: string }> {
  const options = {
    host: OWN_ADDRESS[host] ?? host,
    port,
    path: '/health/ready',
    signal: AbortSignal.timeout(HEALTH_PATIENCE),
  };
  const answer = await new Promise<IncomingMessage>((resolve, reject) => {
    const request = tls.isOn
      ? // Nothing secret is sent, and the certificate need not name this machine's own address.
        getOverTls({ ...options, rejectUnauthorized: false }, resolve)
      : getOverHttp(options, resolve);
    request.on('error', reject);
  });
  return { ready: answer.statusCode === 200, said: await text(answer) };
}

function removeOnSignal(staging: string): void {
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => {
      rmSync(staging, { recursive: true, force: true });
      process.stderr.write(`hawser: stopped by ${signal}; there is no archive\n`);
      process.exit(1);
    });
  }
}
