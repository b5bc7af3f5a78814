// full: SQLite
/** What a push is refused for, as its author reads it. A refused push changes nothing. */

import { execFileSync } from 'node:child_process';
import { symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { gitClient } from '../support/git-client.ts';
import { quarantinesOf } from '../support/hand-made-push.ts';
import { createToken, startHawser } from '../support/hawser.ts';
import { beginAuthor, DRAFT, type PushAuthor } from '../support/push-author.ts';
import { started } from '../support/started.ts';

const LIMITS = { HAWSER_UPLOAD_LIMIT: '1MiB', HAWSER_UPLOAD_FILES: '20', HAWSER_PUSH_LIMIT: '4MiB' };
const POINTER = `version https://git-lfs.github.com/spec/v1\noid sha256:${'a'.repeat(64)}\nsize 12345\n`;

interface Refusal {
  of: string;
  code: string;
  /** Makes what is pushed. Gives the arguments of `git push`. */
  make(author: PushAuthor): Promise<string[]>;
}

/** Pushes a commit with these files as a draft. */
const withFiles =
  (files: Record<string, string | Buffer>, message?: string) => async (author: PushAuthor) => {
    await author.commit(files, message);
    return [`HEAD:${DRAFT}/1.1.0`];
  };

/** Pushes a commit whose tree has one more entry, which no working copy could hold. */
const withEntry = (mode: string, type: string, path: string) => async (author: PushAuthor) => {
  const tree = (await author.ok('rev-parse', 'HEAD^{tree}')).trim();
  const blob =
    type === 'commit' ? 'a'.repeat(40) : (await author.ok('rev-parse', 'HEAD:main.dsc.yaml')).trim();
  const listed = await author.ok('ls-tree', '-z', tree);
  const git = (args: string[], input: string) =>
    execFileSync('git', ['-C', author.folder, ...args], { input, encoding: 'utf8' }).trim();
  const made = git(['mktree', '-z', '--missing'], `${listed}${mode} ${type} ${blob}\t${path}\0`);
  const commit = (await author.ok('commit-tree', '-p', 'HEAD', '-m', 'x', made)).trim();
  return [`${commit}:${DRAFT}/1.1.0`];
};

const REFUSALS: readonly Refusal[] = [
  {
    of: 'a tag that is moved',
    code: 'published_version',
    async make({ ok, commit }) {
      await commit({ 'a.yaml': 'a' });
      await ok('tag', '-f', '-a', 'v1.0.0', '-m', 'x');
      return ['-f', 'v1.0.0'];
    },
  },
  { of: 'a tag that is deleted', code: 'published_version', make: async () => ['--delete', 'v1.0.0'] },
  {
    of: 'a lightweight tag',
    code: 'lightweight_tag',
    async make({ ok, commit }) {
      await commit({ 'a.yaml': 'a' });
      await ok('tag', 'v1.1.0');
      return ['v1.1.0'];
    },
  },
  {
    of: 'a tag that names another version',
    code: 'tag_name_mismatch',
    async make({ ok, commit }) {
      await commit({ 'a.yaml': 'a' });
      await ok('tag', '-a', 'v1.1.0', '-m', 'x');
      return ['v1.1.0:refs/tags/v1.2.0'];
    },
  },
  {
    of: 'a tag and a draft on different commits',
    code: 'tag_name_mismatch',
    async make({ ok, commit }) {
      await commit({ 'a.yaml': 'a' });
      await ok('tag', '-a', 'v1.1.0', '-m', 'x');
      await commit({ 'b.yaml': 'b' });
      return ['v1.1.0', `HEAD:${DRAFT}/1.1.0`];
    },
  },
  {
    of: 'main',
    code: 'main_follows',
    async make({ commit }) {
      await commit({ 'a.yaml': 'a' });
      return ['HEAD:refs/heads/main'];
    },
  },
  ...[
    'refs/heads/topic',
    'refs/notes/commits',
    'refs/tags/milestone',
    'refs/pushed/tags/v1.0.0',
    'refs/heads/draft/a/b',
  ].map((name) => ({
    of: name,
    code: 'unknown_ref',
    make: async ({ commit }: PushAuthor) => {
      await commit({ 'a.yaml': 'a' });
      return [`HEAD:${name}`];
    },
  })),
  {
    of: 'two versions',
    code: 'one_version_per_push',
    async make({ commit }) {
      await commit({ 'a.yaml': 'a' });
      return [`HEAD:${DRAFT}/1.1.0`, `HEAD:${DRAFT}/1.2.0`];
    },
  },
  ...[['colour=red'], ['publish', 'publish'], ['entry-point=main.dsc.yaml'], ['publish=yes'], ['']].map(
    (options) => ({
      of: `the options ${JSON.stringify(options)}`,
      code: 'invalid_option',
      make: async ({ commit }: PushAuthor) => {
        await commit({ 'a.yaml': 'a' });
        return [...options.flatMap((option) => ['-o', option]), `HEAD:${DRAFT}/1.1.0`];
      },
    }),
  ),
  {
    of: '"publish" with a tag',
    code: 'invalid_option',
    async make({ ok, commit }) {
      await commit({ 'a.yaml': 'a' });
      await ok('tag', '-a', 'v1.1.0', '-m', 'x');
      return ['-o', 'publish', 'v1.1.0'];
    },
  },
  {
    of: 'a draft of a published version',
    code: 'version_exists',
    async make({ commit }) {
      await commit({ 'a.yaml': 'a' });
      return [`HEAD:${DRAFT}/1.0.0`];
    },
  },
  {
    of: 'a version that is there in another spelling',
    code: 'version_exists',
    async make({ commit }) {
      await commit({ 'a.yaml': 'a' });
      return [`HEAD:${DRAFT}/1.0.0+build`];
    },
  },
  {
    of: 'a version that is no SemVer',
    code: 'semver_required',
    async make({ commit }) {
      await commit({ 'a.yaml': 'a' });
      return [`HEAD:${DRAFT}/autumn`];
    },
  },
  {
    of: 'a version without its entry point',
    code: 'entry_point_missing',
    async make({ ok, commit }) {
      await ok('mv', 'main.dsc.yaml', 'other.yaml');
      await commit({});
      return [`HEAD:${DRAFT}/1.1.0`];
    },
  },
  { of: 'an LFS pointer', code: 'lfs_pointer', make: withFiles({ 'a.bin': POINTER }) },
  {
    of: 'more bytes than a version may have',
    code: 'payload_too_large',
    make: withFiles({ 'a.bin': Buffer.alloc(1024 * 1024 + 1) }),
  },
  {
    of: 'a pack of more bytes than allowed',
    code: 'payload_too_large',
    make: withFiles({
      'a.bin': Buffer.from(Array.from({ length: 5 * 1024 * 1024 }, () => Math.random() * 256)),
    }),
  },
  {
    of: 'more files than a version may have',
    code: 'payload_too_large',
    make: withFiles(Object.fromEntries(Array.from({ length: 21 }, (_, at) => [`f${at}.yaml`, 'x']))),
  },
  {
    of: 'a link',
    code: 'invalid_path',
    async make({ folder, commit }) {
      symlinkSync('/etc/passwd', join(folder, 'link'));
      await commit({});
      return [`HEAD:${DRAFT}/1.1.0`];
    },
  },
  { of: 'a submodule', code: 'invalid_path', make: withEntry('160000', 'commit', 'module') },
  {
    of: 'two paths that differ in case',
    code: 'invalid_path',
    make: withEntry('100644', 'blob', 'Main.dsc.yaml'),
  },
  {
    of: 'a path that is not in NFC',
    code: 'invalid_path',
    make: withEntry('100644', 'blob', 'a\u0308.yaml'),
  },
  {
    of: 'a link in a commit below, that is gone in the tip',
    code: 'invalid_path',
    async make({ folder, ok, commit }) {
      symlinkSync('/etc/passwd', join(folder, 'link'));
      await commit({});
      await ok('rm', '-q', 'link');
      await commit({});
      return [`HEAD:${DRAFT}/1.1.0`];
    },
  },
];

describe('git push is refused', function () {
  this.timeout(60_000);
  const hawser = started(() => startHawser(LIMITS));
  const client = started(async () => gitClient(hawser));
  let token: string;
  let author: PushAuthor;

  before(async () => {
    token = await createToken(hawser.client(), hawser.session, ['configurations.admin-override']);
    author = await beginAuthor(hawser, client, token);
  });
  beforeEach(async () => {
    await author.ok('reset', '-q', '--hard', 'origin/main');
    await author.ok('clean', '-qfdx');
    for (const tag of (await author.ok('tag')).trim().split('\n')) await author.ok('tag', '-d', tag);
    await author.ok('fetch', '-q', '--tags');
  });

  const state = async () => ({
    refs: await author.ok('ls-remote', 'origin'),
    versions: (await hawser.admin.get(`${author.api}/versions`)).json,
    generation: (await hawser.admin.get('/api/v1/audit?take=1')).headers['x-total-count'],
    left: quarantinesOf(hawser),
  });

  for (const { of, code, make } of REFUSALS) {
    it(`for ${of}: ${code}`, async () => {
      const args = await make(author);
      const before = await state();
      const { code: exit, output } = await author.push(...args);
      expect(exit, output).to.equal(1);
      expect(output).to.include(`: ${code}: `).and.to.include('remote: hawser: Nothing was changed.');
      const rejected = output.match(/! \[remote rejected\] .*\((.*)\)/g) ?? [];
      expect(rejected, output).to.not.deep.equal([]);
      for (const line of rejected) expect(line).to.include(`(${code})`);
      expect(await state()).to.deep.equal(before);
    });
  }
});
