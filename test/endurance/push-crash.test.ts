/** A push of 60 tags of parameter files is there whole or not at all, wherever its server is killed within it. */

import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { auditEntries } from '../support/audit.ts';
import { type Client, makeClient, type Target } from '../support/client.ts';
import type { Doom } from '../support/crash/failpoints.ts';
import { buildProgram, removePrograms } from '../support/crash/programs.ts';
import { ServerProcess } from '../support/crash/server-process.ts';
import { type GitClient, gitClient } from '../support/git-client.ts';
import {
  ADMIN_PASSWORD,
  ALL_SCOPES,
  createToken,
  git,
  publishConfiguration,
  signIn,
} from '../support/hawser.ts';
import { newDatabase } from '../support/postgres.ts';
import { authorOfFiles, type PushAuthor } from '../support/push-author.ts';
import { ok } from '../support/replies.ts';

const VALUES = Array.from({ length: 60 }, (_, at) => `v${at}`);
/** The objects have commits of their own. A push never gets to the last of these, and its server is killed after the answer. */
const COMMITS: Doom[] = [1, 2, 3, 5, 8, 13, 100_000].map((passing) => ({ point: 'after commit', passing }));
const ON_DISK: Doom[] = [
  { point: 'after append to note', passing: 1 },
  { point: 'before rename to packed refs', passing: 1 },
  { point: 'after rename to packed refs', passing: 1 },
  // The draft branches beside the tags go.
  { point: 'before rename to packed refs', passing: 2 },
  { point: 'before rename to branch', passing: 1 },
];

/** A server that is killed, and an author who pushes to it. */
class Site {
  readonly server: ServerProcess;
  author!: PushAuthor;
  private client!: Client;
  private admin!: Client;
  private git!: GitClient;
  private token = '';

  constructor(folder: string, databaseUrl: string | null) {
    this.server = new ServerProcess(folder, databaseUrl);
  }

  async prepare(): Promise<void> {
    const target = await this.server.start();
    this.client = makeClient(target);
    this.token = await createToken(
      this.client,
      await signIn(this.client, 'admin', ADMIN_PASSWORD),
      ALL_SCOPES,
    );
    this.use(target);
    await publishConfiguration(this.admin, 'web', {
      '1.0.0': { 'main.dsc.yaml': '$schema: x\nresources: []\n' },
    });
    await ok(201, this.admin.post('/api/v1/scope-types', { name: 'Ring' }));
    this.git = gitClient({ dataDir: this.server.dataDir, server: { port: target.port } });
    this.author = await authorOfFiles(this.git, 'web', this.token);
  }

  /** Starts the server again, which has another port. */
  async restart(): Promise<void> {
    await this.server.ended();
    const target = await this.server.start();
    this.use(target);
    const url = gitClient({ dataDir: this.server.dataDir, server: { port: target.port } });
    await this.author.ok('remote', 'set-url', 'origin', url.url('parameters/web', this.token));
    url.close();
  }

  /** @returns the arguments of `git push` */
  async makeTags(version: string): Promise<string[]> {
    const files = VALUES.map((value) => [`${value}/parameters.yaml`, `parameters:\n  port: "${version}"\n`]);
    const commit = await this.author.commit(Object.fromEntries(files));
    const tags = VALUES.map((value) => `Ring/${value}/v${version}`);
    const person = 'Ada <ada@example.org> 1700000000 +0000';
    // One process for all of them.
    const input = tags.map((tag) => `tag ${tag}\nfrom ${commit}\ntagger ${person}\ndata 1\nx\n`).join('');
    execFileSync('git', ['-C', this.author.folder, 'fast-import', '--quiet'], { input });
    return tags;
  }

  /** How many files of the version there are, by their refs, by the API and by the audit trail. */
  async counts(version: string): Promise<number[]> {
    // There is no repository before the first push is taken.
    const { code, output } = await this.author.git('ls-remote', 'origin');
    expect(code === 0 || output.includes('There are no'), output).to.equal(true);
    const refs = output.split('\n');
    const path = '/api/v1/configurations/web/parameter-files?take=1000';
    const listed: { version: string; status: string }[] = await ok(200, this.admin.get(path));
    const entries = await auditEntries(
      { admin: this.admin },
      'action=parameters.version_published&take=1000',
    );
    const told = entries.filter(({ details }) => details?.['version'] === version);
    expect(
      refs.some((line) => line.includes('/draft/')),
      'drafts that are left',
    ).to.equal(false);
    return [
      refs.filter((line) => line.endsWith(`/v${version}`)).length,
      listed.filter((file) => file.version === version && file.status === 'Published').length,
      told.length,
    ];
  }

  async close(): Promise<void> {
    await this.server.kill();
    this.client.close();
    this.git.close();
  }

  private use(target: Target): void {
    this.admin = makeClient(target).with({ Authorization: `Bearer ${this.token}` });
  }
}

describe('a push of 60 tags', function () {
  this.timeout(1_800_000);

  before(() => buildProgram('server'));
  after(() => removePrograms());

  for (const [engine, deaths] of [
    ['SQLite', [...ON_DISK, ...COMMITS.slice(0, 1)]],
    ['PostgreSQL', COMMITS],
  ] as const)
    it(`is whole or not there on ${engine}, wherever the server is killed`, async () => {
      const folder = mkdtempSync(join(tmpdir(), 'hawser-push-crash-'));
      const site = new Site(folder, engine === 'SQLite' ? null : (await newDatabase()).url);
      const seen = new Set<number>();
      let kills = 0;
      try {
        await site.prepare();
        for (const [at, doom] of deaths.entries()) {
          const version = `1.${at}.0`;
          const tags = await site.makeTags(version);
          site.server.arm(doom);
          const { code } = await site.author.push(...tags);
          if (code === 0) await site.server.kill();
          else kills += 1;
          await site.restart();
          const [refs, ...others] = await site.counts(version);
          const what = `${doom.point} ${doom.passing}`;
          expect(refs, what).to.be.oneOf([0, VALUES.length]);
          expect(others, what).to.deep.equal([refs, refs]);
          seen.add(refs ?? -1);
          if (refs === 0) expect((await site.author.push(...tags)).code, what).to.equal(0);
          expect(await site.counts(version), what).to.deep.equal([60, 60, 60]);
          if (engine === 'SQLite') {
            const fsck = git(join(site.server.reposDir, 'parameters/web.git'), 'fsck', '--strict');
            expect(fsck).to.not.include('error');
          }
          expect(site.server.errors, what).to.deep.equal([]);
        }
        expect(kills).to.be.greaterThan(2);
        expect([...seen]).to.have.members([0, VALUES.length]);
      } finally {
        await site.close();
        rmSync(folder, { recursive: true, force: true });
      }
    });
});
