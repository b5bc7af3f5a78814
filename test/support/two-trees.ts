/** Trees of files in a repository of stock git, compared by our engine, and patches applied by git. */

import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ListedFile } from '../../src/domain/file-changes.ts';
import { sha256Hex } from '../../src/lib/hash.ts';
import type { ComparedFiles, Comparer, KeepUntilRead } from '../../src/resolve/comparer.ts';

export interface TestFile {
  content: string | Buffer;
  executable?: boolean;
}

/** Contents by path. A text or bytes alone stand for a file that is not executable. */
export type TestTree = Record<string, TestFile | string | Buffer>;

export class TreeRepository {
  private readonly folder = mkdtempSync(join(tmpdir(), 'hawser-trees-'));

  constructor() {
    this.git('init', '-q', '-b', 'main');
  }

  close(): void {
    rmSync(this.folder, { recursive: true, force: true });
  }

  git(...args: string[]): string {
    return this.pipe('', ...args).toString('utf8');
  }

  pipe(input: string | Buffer, ...args: string[]): Buffer {
    const person = { NAME: 'Carol', EMAIL: 'carol@example.org' };
    const env = {
      ...{ PATH: process.env['PATH'] ?? '', HOME: '/nonexistent', GIT_CONFIG_NOSYSTEM: '1' },
      ...{ GIT_AUTHOR_NAME: person.NAME, GIT_AUTHOR_EMAIL: person.EMAIL },
      ...{ GIT_COMMITTER_NAME: person.NAME, GIT_COMMITTER_EMAIL: person.EMAIL },
    };
    const options = { cwd: this.folder, env, input, stdio: 'pipe', maxBuffer: 2 ** 30 } as const;
    return execFileSync('git', args, options);
  }

  /** Makes branches of these names that hold these files, in place of earlier ones. */
  put(trees: Record<string, TestTree>): void {
    const stream: Buffer[] = [];
    const add = (text: string) => stream.push(Buffer.from(text));
    for (const [name, tree] of Object.entries(trees)) {
      add(`reset refs/heads/${name}\ncommit refs/heads/${name}\n`);
      add('committer Carol <carol@example.org> 1700000000 +0000\ndata 0\ndeleteall\n');
      for (const [path, file] of Object.entries(tree)) {
        const { content, executable = false } = isPlain(file) ? { content: file } : file;
        const bytes = Buffer.from(content as Buffer);
        add(
          `M ${executable ? '100755' : '100644'} inline ${path.startsWith('"') ? JSON.stringify(path) : path}\ndata ${bytes.length}\n`,
        );
        stream.push(bytes);
        add('\n');
      }
    }
    this.pipe(Buffer.concat(stream), 'fast-import', '--quiet', '--force');
  }

  /** The files of a commit as they are compared. */
  files(commit: string): ComparedFiles {
    const files = this.git('ls-tree', '-r', '-z', commit)
      .split('\0')
      .filter((entry) => entry !== '')
      .map((entry): ListedFile => {
        const [, mode, oid, path] = /^(\d+) blob (\w+)\t(.*)$/s.exec(entry) ?? [];
        return { path: path ?? '', oid: oid ?? '', executable: mode === '100755' };
      });
    const read = async ({ oid }: ListedFile) => this.pipe('', 'cat-file', 'blob', oid);
    const info = async (file: ListedFile) => {
      const bytes = await read(file);
      return { size: bytes.length, sha256: sha256Hex(bytes) };
    };
    return { files, read, infos: (all) => Promise.all(all.map(info)) };
  }

  async patch(comparer: Comparer, from: string, to: string): Promise<Buffer> {
    const parts: Buffer[] = [];
    const [before, after] = [this.files(from), this.files(to)];
    for await (const part of comparer.patch({ id: 'carol' }, before, after, keptInMemory)) parts.push(part);
    return Buffer.concat(parts);
  }

  /** The id of the tree that `git apply --index` makes of a commit. */
  applied(commit: string, patch: Buffer): string {
    this.git('checkout', '-q', '-f', '--detach', commit);
    this.git('clean', '-q', '-f', '-d', '-x');
    // Git takes an empty patch for a mistake.
    if (patch.length > 0) this.pipe(patch, 'apply', '--index', '--whitespace=nowarn');
    // What is in the index is what is on the disk.
    this.git('diff', '--exit-code');
    return this.git('write-tree').trim();
  }

  treeOf(commit: string): string {
    return this.git('rev-parse', `${commit}^{tree}`).trim();
  }
}

/** Keeps a patch as the server does, without a disk. */
export const keptInMemory: KeepUntilRead = async function* (make) {
  const pieces: Buffer[] = [];
  await make(async (piece) => void pieces.push(piece));
  yield* pieces;
};

function isPlain(file: TestFile | string | Buffer): file is string | Buffer {
  return typeof file === 'string' || Buffer.isBuffer(file);
}
