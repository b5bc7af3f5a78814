/** 60 parameter files that are pushed, or sent as a folder, are there whole or not at all, wherever the server is killed within it. */

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
import { pushFolder, withPort } from '../support/parameter-folders.ts';
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

/** A folder makes its drafts by one move, and says which values there are before that. */
const FOLDER_ON_DISK: Doom[] = [
  { point: 'after append to note', passing: 1 },
  { point: 'before rename to packed refs', passing: 1 },
  { point: 'after rename to packed refs', passing: 1 },
  { point: 'after commit', passing: 1 },
];
const FOLDER_COMMITS: Doom[] = [1, 2, 5, 60, 100_000].map((passing) => ({ point: 'after commit', passing }));

/** What is counted of files: those that are published, or drafts. */
interface Counted {
  status: 'Published' | 'Draft';
  action: string;
  isRef(line: string, version: string): boolean;
}

const TAGS: Counted = {
  status: 'Published',
  action: 'parameters.version_published',
  isRef: (line, version) => line.endsWith(`/v${version}`),
};
const DRAFTS: Counted = {
  status: 'Draft',
  action: 'parameters.version_saved',
  isRef: (line, version) => line.includes('/draft/') && line.endsWith(`/${version}`),
};

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
  async counts(version: string, { status, action, isRef }: Counted): Promise<number[]> {
    // There is no repository before the first push is taken.
    const { code, output } = await this.author.git('ls-remote', 'origin');
    expect(code === 0 || output.includes('There are no'), output).to.equal(true);
    const refs = output.split('\n');
    const path = '/api/v1/configurations/web/parameter-files?take=1000';
    const listed: { version: string; status: string }[] = await ok(200, this.admin.get(path));
    const entries = await auditEntries({ admin: this.admin }, `action=${action}&take=1000`);
    const told = entries.filter(({ details }) => details?.['version'] === version);
    if (status === 'Published')
      expect(
        refs.some((line) => line.includes('/draft/')),
        'drafts that are left',
      ).to.equal(false);
    return [
      refs.filter((line) => isRef(line, version)).length,
      listed.filter((file) => file.version === version && file.status === status).length,
      told.length,
    ];
  }

  /** Sends a folder with a file for each value. @returns the versions of the answer; null where there was none */
  async sendFolder(port: number): Promise<string[] | null> {
    const files = VALUES.map((value) => [`parameters/web/Ring/${value}.yaml`, withPort(port)]);
    const reply = await pushFolder(this.admin, Object.fromEntries(files)).catch(() => null);
    if (reply === null) return null;
    expect(reply.status, reply.text).to.equal(200);
    return reply.json.map(({ version }: { version: string }) => version);
  }

  requireSound(): void {
    const fsck = git(join(this.server.reposDir, 'parameters/web.git'), 'fsck', '--strict');
    expect(fsck).to.not.include('error');
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

/** Kills the server once for each death, and looks whether all of the files are there or none. */
async function killAgainAndAgain(
  engine: 'SQLite' | 'PostgreSQL',
  deaths: readonly Doom[],
  counted: Counted,
  /** Gives the version of the files and what sends them; this tells whether there was an answer. */
  sending: (site: Site, at: number) => Promise<{ version: string; send: () => Promise<boolean> }>,
): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'hawser-push-crash-'));
  const site = new Site(folder, engine === 'SQLite' ? null : (await newDatabase()).url);
  const seen = new Set<number>();
  let kills = 0;
  try {
    await site.prepare();
    for (const [at, doom] of deaths.entries()) {
      const { version, send } = await sending(site, at);
      site.server.arm(doom);
      if (await send()) await site.server.kill();
      else kills += 1;
      await site.restart();
      const [refs, ...others] = await site.counts(version, counted);
      const what = `${doom.point} ${doom.passing}`;
      expect(refs, what).to.be.oneOf([0, VALUES.length]);
      expect(others, what).to.deep.equal([refs, refs]);
      seen.add(refs ?? -1);
      if (refs === 0) expect(await send(), what).to.equal(true);
      expect(await site.counts(version, counted), what).to.deep.equal([60, 60, 60]);
      if (engine === 'SQLite') site.requireSound();
      expect(site.server.errors, what).to.deep.equal([]);
    }
    expect(kills).to.be.greaterThan(2);
    expect([...seen]).to.have.members([0, VALUES.length]);
  } finally {
    await site.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

for (const [engine, pushes, folders] of [
  ['SQLite', [...ON_DISK, ...COMMITS.slice(0, 1)], FOLDER_ON_DISK],
  ['PostgreSQL', COMMITS, FOLDER_COMMITS],
] as const)
  describe(`60 parameter files on ${engine}, wherever the server is killed`, function () {
    this.timeout(1_800_000);

    before(() => buildProgram('server'));
    after(() => removePrograms());

    it('are all there as tags that were pushed, or none is', () =>
      killAgainAndAgain(engine, pushes, TAGS, async (site, at) => {
        const version = `1.${at}.0`;
        const tags = await site.makeTags(version);
        return { version, send: async () => (await site.author.push(...tags)).code === 0 };
      }));

    it('are all there as drafts of a folder, or none is', () =>
      killAgainAndAgain(engine, folders, DRAFTS, async (site, at) => {
        const version = `1.0.${at}`;
        const send = async () => {
          const versions = await site.sendFolder(1_000 + at);
          if (versions !== null) expect(versions).to.deep.equal(VALUES.map(() => version));
          return versions !== null;
        };
        return { version, send };
      }));
  });
