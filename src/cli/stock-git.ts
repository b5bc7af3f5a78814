/** Stock git of the user, in a repository that is thrown away, which talks to the server as hawserctl does. */

import { spawn } from 'node:child_process';
import { X509Certificate } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sha256Base64 } from '../lib/hash.ts';
import type { Destination } from './destination.ts';
import { Failure } from './errors.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/** The variable from which git's helper takes the token, so that no list of processes shows it. */
const TOKEN = 'HAWSER_GIT_TOKEN';
const HELPER = `!f() { test "$1" = get && echo username=hawserctl && echo "password=$${TOKEN}"; }; f`;

export interface StockGit {
  /** Runs git in the repository. @returns what it printed; @throws Failure where it fails */
  run(args: readonly string[], stdin?: string | Uint8Array): Promise<Buffer>;
  /** As `run`, with what it tells the user of. */
  tell(args: readonly string[]): Promise<string>;
  /** The address of a repository on the server. */
  url(repository: string): string;
}

/** Makes an empty repository for `work`, and removes it in the end. */
export async function withStockGit<T>(
  destination: Destination,
  env: Environment,
  work: (git: StockGit) => Promise<T>,
): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), 'hawserctl-git-'));
  try {
    const trusting = await trustOf(destination, folder);
    // What says where another repository is would lead git away from this one.
    const { GIT_DIR, GIT_WORK_TREE, GIT_INDEX_FILE, GIT_OBJECT_DIRECTORY, ...others } = env;
    const environment = {
      ...others,
      ...trusting.env,
      [TOKEN]: destination.token,
      GIT_TERMINAL_PROMPT: '0',
      LC_ALL: 'C',
    };
    const common = ['-c', 'credential.helper=', '-c', `credential.helper=${HELPER}`, ...trusting.options];
    const start = (args: readonly string[], stdin: string | Uint8Array = '') =>
      runGit([...common, ...args], { cwd: folder, env: environment, stdin });
    await start(['init', '-q', '--bare', '.']);
    return await work({
      run: async (args, stdin) => (await start(args, stdin)).stdout,
      tell: async (args) => (await start(args)).stderr,
      url: (repository) => new URL(`/git/${repository}.git`, destination.url).href,
    });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** A server that is known by its very certificate is known by its key: git compares no certificates. */
async function trustOf(
  { trust }: Destination,
  folder: string,
): Promise<{ env: Environment; options: string[] }> {
  if (trust.kind === 'system') return { env: {}, options: [] };
  if (trust.kind === 'certificate') {
    const key = new X509Certificate(trust.pem).publicKey.export({ type: 'spki', format: 'der' });
    const pin = `http.pinnedPubkey=sha256//${sha256Base64(key)}`;
    return { env: { GIT_SSL_NO_VERIFY: '1' }, options: ['-c', pin] };
  }
  const file = join(folder, 'hawser-ca.pem');
  await writeFile(file, trust.pem);
  return { env: { GIT_SSL_CAINFO: file }, options: [] };
}

interface Running {
  cwd: string;
  env: Environment;
  stdin: string | Uint8Array;
}

function runGit(
  args: readonly string[],
  { cwd, env, stdin }: Running,
): Promise<{ stdout: Buffer; stderr: string }> {
  return new Promise((resolve, reject) => {
    const child = spawn('git', args, { cwd, env });
    const [out, said]: [Buffer[], Buffer[]] = [[], []];
    child.stdout.on('data', (data) => out.push(data));
    child.stderr.on('data', (data) => said.push(data));
    child.stdin.on('error', () => undefined);
    child.stdin.end(stdin);
    child.once('error', (error: NodeJS.ErrnoException) =>
      reject(
        error.code === 'ENOENT'
          ? new Failure('git is not installed; it sends what is signed.')
          : new Failure(`git cannot be started: ${error.code}.`),
      ),
    );
    child.once('close', (code) => {
      const stderr = Buffer.concat(said).toString('utf8');
      if (code === 0) resolve({ stdout: Buffer.concat(out), stderr });
      else reject(new Failure(reasonIn(stderr)));
    });
  });
}

/** What the server said, else what git did. */
function reasonIn(stderr: string): string {
  const lines = stderr.split('\n').map((line) => line.trimEnd());
  const ours = lines.flatMap((line) => /^remote: hawser: (.*)/.exec(line)?.[1] ?? []);
  const told = ours.length > 0 ? ours : lines.filter((line) => line !== '');
  return told.join('\n') || 'git has failed and does not say why.';
}
