/**
 * Plays a page and the pages that continue it, as a reader would: every `bash` block as printed, in order, in a fresh
 * copy of the project, with a home folder of its own. Each page has a terminal (bash) of its own. A block that is only
 * `npm start`, perhaps with settings before it, is the terminal of the server: it runs beside the others. At the end the server is stopped,
 * and the blocks marked `bash last`, which remove everything, are run. Then the server must start as at first.
 *
 * One thing differs from what is printed: 8443 is replaced by a free port, so that a server of yours can go on
 * running.
 */

import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { atExit } from '../support/cleanup.ts';
import { Program } from '../support/program.ts';
import { PROJECT } from '../support/project.ts';
import { type Block, readBlocks } from './blocks.ts';
import { matches } from './expectation.ts';
import { Shell } from './shell.ts';

/** The pages that hold walks. The first page of each list starts a server; the others continue it, each on its own. */
export const WALKS: readonly (readonly string[])[] = [
  ['README.md', 'docs/parameters.md', 'docs/past.md', 'docs/agent.md'],
  ['docs/from-opendsc.md'],
  [
    'docs/api-walk.md',
    'docs/versions.md',
    'docs/merging.md',
    'docs/tokens.md',
    'docs/protocol.md',
    'docs/troubleshooting.md',
    'docs/operating.md',
  ],
];

const PRINTED_PORT = '8443';
const START_COMMAND = /^([A-Z_]+=\S+ )*npm start$/;
const START_TIMEOUT = 180_000;
/** These are not copied: they hold state, or are large. What the walks need of them is linked or made empty. */
const NOT_COPIED = new Set(['node_modules', 'data', 'repos', '.git', 'coverage', 'test']);

export interface Page {
  /** The path in the project. */
  name: string;
  markdown: string;
}

/** Says which block of a page does not do what it says, and why. */
export class ReadmeError extends Error {
  constructor(block: Block, fault: string, outcome: { output: string; failed?: string }) {
    const parts = [`${block.page} line ${block.line}: ${fault}`, '', block.code];
    if (outcome.failed) parts.push('', '--- the command that failed', outcome.failed);
    if (block.expected !== null) parts.push('', '--- expected (... stands for anything)', block.expected);
    super([...parts, '', '--- printed', outcome.output].join('\n'));
    this.name = 'ReadmeError';
  }
}

export function readPages(names: readonly string[]): Page[] {
  return names.map((name) => ({ name, markdown: readFileSync(join(PROJECT, name), 'utf8') }));
}

/**
 * @returns how many blocks were run
 * @throws ReadmeError at the first block that does not do what it says
 */
export async function runPages(
  pages: readonly Page[],
  onBlock: (block: Block) => void = () => undefined,
): Promise<number> {
  const folder = mkdtempSync(join(tmpdir(), 'hawser-readme-'));
  const port = String(await findPort());
  const terminals = new Terminals(folder, port);
  const cleanUp = atExit(() => {
    terminals.close();
    rmSync(folder, { recursive: true, force: true });
  });
  try {
    const blocks = pages.map(({ name, markdown }) =>
      readBlocks(name, markdown.replaceAll(PRINTED_PORT, port)),
    );
    for (const page of blocks) {
      const walk = page.filter(({ isLast }) => !isLast);
      await terminals.play(walk, onBlock);
    }
    await terminals.stopServer();
    const last = blocks.flat().filter(({ isLast }) => isLast);
    await terminals.play(last, onBlock);
    if (last.length > 0) await terminals.startAgain();
    return blocks.flat().length;
  } finally {
    cleanUp();
  }
}

class Terminals {
  private readonly folder: string;
  private readonly clone: string;
  private readonly own: Record<string, string>;
  private readonly env: Record<string, string>;
  private shell: Shell | null = null;
  private server: { program: Program; block: Block } | null = null;

  constructor(folder: string, port: string) {
    this.folder = folder;
    this.clone = join(folder, 'hawser');
    const tmp = join(folder, 'tmp');
    mkdirSync(tmp);
    copyProject(this.clone);
    const path = [dirname(process.execPath), process.env['PATH'] ?? ''].join(delimiter);
    // The environment has nothing from the user who runs this: no proxy, no settings of curl or git, no npm notices.
    this.own = { PATH: path, HOME: folder, TMPDIR: tmp, LC_ALL: 'C', npm_config_update_notifier: 'false' };
    this.env = { ...this.own, HAWSER_PORT: port };
  }

  /** Runs the blocks one after the other in a new terminal, in the folder of the project. */
  async play(blocks: readonly Block[], onBlock: (block: Block) => void): Promise<void> {
    const shell = new Shell(this.clone, this.folder, this.own);
    this.shell = shell;
    for (const block of blocks) {
      onBlock(block);
      if (START_COMMAND.test(block.code.trim())) await this.startServer(block);
      else await run(shell, block);
    }
    shell.close();
  }

  /** Stops the server as a service manager would. The walks end without error only if the server does. */
  async stopServer(): Promise<void> {
    if (this.server === null) return;
    const { program, block } = this.server;
    const code = await program.stop();
    if (code !== 0) throw new ReadmeError(block, `stopped with SIGTERM it ended with ${code}`, program);
  }

  /** Starts the server once more, with the output that the first start has shown, and stops it. */
  async startAgain(): Promise<void> {
    if (this.server === null) return;
    await this.startServer(this.server.block);
    await this.stopServer();
  }

  close(): void {
    this.shell?.close();
    this.server?.program.kill();
  }

  private async startServer(block: Block): Promise<void> {
    // Both outputs go to one stream, as in a terminal, so that lines come in the order in which they were written.
    const code = `exec 2>&1; exec env ${block.code.trim()}`;
    const program = new Program('bash', ['-c', code], { cwd: this.clone, env: this.env });
    this.server = { program, block };
    const started = (output: string) => matches(block.expected ?? '...', output);
    if (!(await program.waitFor(started, START_TIMEOUT))) {
      throw new ReadmeError(block, 'the output shown did not come', program);
    }
  }
}

async function run(shell: Shell, block: Block): Promise<void> {
  const outcome = await shell.run(block.code, block.fails);
  if (outcome.status === null) throw new ReadmeError(block, 'it ended before its end', outcome);
  if ((outcome.status !== 0) !== block.fails) {
    throw new ReadmeError(block, `the last command ended with ${outcome.status}`, outcome);
  }
  if (block.expected !== null && !matches(block.expected, outcome.output)) {
    throw new ReadmeError(block, 'the output is not the one shown', outcome);
  }
}

/** Makes the folder that `git clone` and `npm ci` would make, with the current, perhaps uncommitted files. */
function copyProject(clone: string): void {
  mkdirSync(clone);
  for (const name of readdirSync(PROJECT)) {
    if (!NOT_COPIED.has(name)) cpSync(join(PROJECT, name), join(clone, name), { recursive: true });
  }
  for (const name of ['data', 'repos']) mkdirSync(join(clone, name));
  symlinkSync(join(PROJECT, 'node_modules'), join(clone, 'node_modules'));
  // The sample of an OpenDSC site is that of the tests.
  symlinkSync(join(PROJECT, 'test'), join(clone, 'test'));
}

/** Finds a port below the range from which the system assigns ports, so that no other test gets it in the meantime. */
async function findPort(): Promise<number> {
  for (;;) {
    const port = 20_000 + Math.floor(Math.random() * 10_000);
    if (await isFree(port)) return port;
  }
}

function isFree(port: number): Promise<boolean> {
  return new Promise((done) => {
    const probe = createServer();
    probe.once('error', () => done(false));
    probe.listen(port, '0.0.0.0', () => probe.close(() => done(true)));
  });
}
