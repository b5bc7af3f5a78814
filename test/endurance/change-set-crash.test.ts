/**
 * A change set is applied whole or not at all, wherever the server is killed within it, and while it ends at its next start what was
 * cut off. `CHANGE_SET_KILLS=500` kills it more often; `SEED` repeats what a failure names.
 */

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { auditEntries } from '../support/audit.ts';
import { proposed, setOf } from '../support/change-sets.ts';
import { type Client, makeClient } from '../support/client.ts';
import { addVersion, versionsOf } from '../support/configurations.ts';
import { ANY, type Doom, isOfStart } from '../support/crash/failpoints.ts';
import { buildProgram, removePrograms } from '../support/crash/programs.ts';
import { Random } from '../support/crash/random.ts';
import { ServerProcess } from '../support/crash/server-process.ts';
import {
  ADMIN_PASSWORD,
  ALL_SCOPES,
  createToken,
  git,
  publishConfiguration,
  signIn,
} from '../support/hawser.ts';
import { newDatabase } from '../support/postgres.ts';
import type { Wish } from '../support/previews.ts';
import { ok } from '../support/replies.ts';

const KILLS = Number(process.env['CHANGE_SET_KILLS'] ?? 25);
const SEED = Number(process.env['SEED'] ?? Math.floor(Math.random() * 2 ** 31));
/** It is never passed. */
const NEVER: Doom = { point: 'never', passing: 1 };
/** The last places, at which the set is applied or about to be. */
const LAST = 20;
/** After so many rounds it is told how far it is. */
const TOLD = 25;
const SITES = ['berlin', 'rome', 'oslo'];
const FILES = { 'main.dsc.yaml': '$schema: x\nresources: []\n' };

/** What is there of a set: of each of its deeds, and of what is told of it. */
type Seen = Record<string, boolean>;

interface Round {
  id: number;
  digest: string;
  version: string;
  /** The version that it withdraws. */
  former: string;
  assigned: string;
  tag: string;
}

/** A server that is killed, with all that a set of each round changes. */
class Site {
  readonly server: ServerProcess;
  private client!: Client;
  private admin!: Client;
  private token = '';
  private nodeId = '';
  private tags: string[] = [];
  private round = 0;

  constructor(folder: string, databaseUrl: string | null) {
    this.server = new ServerProcess(folder, databaseUrl);
  }

  async prepare(): Promise<void> {
    this.client = makeClient(await this.server.start());
    this.token = await createToken(
      this.client,
      await signIn(this.client, 'admin', ADMIN_PASSWORD),
      ALL_SCOPES,
    );
    this.admin = this.client.with({ Authorization: `Bearer ${this.token}` });
    for (const name of ['web', 'db']) await publishConfiguration(this.admin, name, { '1.0.0': FILES });
    const { id: type } = await ok(201, this.admin.post('/api/v1/scope-types', { name: 'Site' }));
    for (const value of SITES) {
      const made = await ok(201, this.admin.post(`/api/v1/scope-types/${type}/values`, { value }));
      this.tags.push(made.id);
    }
    const node = { fqdn: 'node.example.org', scopeValueIds: [this.tags[0]] };
    ({ id: this.nodeId } = await ok(201, this.admin.post('/api/v1/nodes', node)));
  }

  /** Proposes a set whose deeds write to two repositories and to rows. */
  async propose(): Promise<Round> {
    this.round += 1;
    const { round, admin, nodeId } = this;
    const [version, former] = [`1.${round}.0`, `1.${round - 1}.0`];
    const [assigned, tag] = [['web', 'db'][round % 2] ?? '', this.tags[round % this.tags.length] ?? ''];
    await ok(201, addVersion(admin, 'web', { version }));
    const file = (scope: object): Wish => ({
      ...{ kind: 'SetParameters', configurationName: 'web', version, ...scope },
      content: `parameters: {n: ${round}}\n`,
    });
    const { id, digest } = await proposed(admin, [
      { kind: 'PublishConfiguration', configurationName: 'web', version },
      file({ scopeTypeName: 'Default' }),
      ...SITES.map((scopeValue) => file({ scopeTypeName: 'Site', scopeValue })),
      { kind: 'Withdraw', configurationName: 'web', version: former, reason: 'replaced' },
      { kind: 'Assign', configurationName: assigned, nodeIds: [nodeId] },
      { kind: 'SetTags', nodeIds: [nodeId], scopeValueIds: [tag] },
    ]);
    return { id, digest, version, former, assigned, tag };
  }

  /** @returns whether the server has answered */
  async apply({ id, digest }: Round): Promise<boolean> {
    const reply = await this.admin.post(`${setOf({ id })}/apply`, { digest }).catch(() => null);
    if (reply !== null) expect(reply.status, reply.text).to.equal(200);
    return reply !== null;
  }

  async seen({ id, version, former, assigned, tag }: Round): Promise<Seen> {
    const { admin, nodeId } = this;
    const versions: { version: string; status: string; withdrawn: object | null }[] = await ok(
      200,
      admin.get(`${versionsOf('web')}?take=1000`),
    );
    const of = (wanted: string) => versions.find((each) => each.version === wanted);
    const files: { version: string; status: string }[] = await ok(
      200,
      admin.get('/api/v1/configurations/web/parameter-files?take=1000'),
    );
    const ours = files.filter((each) => each.version === version && each.status === 'Published');
    expect(ours.length, 'files').to.be.oneOf([0, 1 + SITES.length]);
    const node = await ok(200, admin.get(`/api/v1/nodes/${nodeId}`));
    const tags: { scopeValueId: string }[] = await ok(200, admin.get(`/api/v1/nodes/${nodeId}/tags`));
    const told = (await auditEntries({ admin }, 'take=200')).filter(
      ({ details }) => details?.['changeSetId'] === id,
    );
    const { state } = await ok(200, admin.get(setOf({ id })));
    return {
      version: of(version)?.status === 'Published',
      files: ours.length > 0,
      withdrawn: Boolean(of(former)?.withdrawn),
      assigned: node.assignment?.configurationName === assigned,
      tagged: tags.map((each) => each.scopeValueId).join() === tag,
      told: told.length > 0,
      state: state === 'Applied',
      ...(this.server.databaseUrl === null && this.seenInGit(id, version)),
    };
  }

  private seenInGit(id: number, version: string): Seen {
    const of = (path: string) => join(this.server.reposDir, path);
    for (const path of ['changes/changes.git', 'configurations/web.git', 'parameters/web.git'])
      expect(git(of(path), 'fsck', '--strict', '--no-dangling')).to.not.include('error');
    const tags = git(of('parameters/web.git'), 'tag', '--list', `*/v${version}`).split('\n').filter(Boolean);
    expect(tags.length, 'tags').to.be.oneOf([0, 1 + SITES.length]);
    const drafts = git(of('parameters/web.git'), 'branch', '--list', `draft/*/${version}`);
    return {
      main: git(of('changes/changes.git'), 'log', '--first-parent', '--format=%B', 'main').includes(
        `Change-Set: ${id}\n`,
      ),
      tag: git(of('configurations/web.git'), 'tag', '--list', `v${version}`).trim() !== '',
      fileTags: tags.length > 0,
      noDrafts: drafts.trim() === '',
    };
  }

  /** Ends the process if it is there. @returns at how many failpoints a process has been that was told nothing since it began */
  async bury(): Promise<{ atStart: number; since: number }> {
    await this.server.kill();
    const passings = [...this.server.record.takePassings()];
    const sum = (isMeant: (point: string) => boolean) =>
      passings.reduce((count, [point, times]) => count + (isMeant(point) ? times : 0), 0);
    return { atStart: sum(isOfStart), since: sum((point) => !isOfStart(point)) };
  }

  /** Starts it, which may be cut off too. @returns how many times it was */
  async restart(doom: Doom | null): Promise<number> {
    const started = await this.server
      .launch(doom)
      .listening()
      .catch((error: Error) => {
        if (doom === null) throw error;
        return null;
      });
    if (started === null) {
      await this.bury();
      return 1 + (await this.restart(null));
    }
    if (doom !== null) this.server.arm(NEVER);
    this.client.close();
    this.client = makeClient(started);
    this.admin = this.client.with({ Authorization: `Bearer ${this.token}` });
    return 0;
  }

  async close(): Promise<void> {
    await this.server.kill();
    this.client.close();
  }
}

async function killAgainAndAgain(engine: 'SQLite' | 'PostgreSQL'): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'hawser-set-crash-'));
  const site = new Site(folder, engine === 'SQLite' ? null : (await newDatabase()).url);
  const random = new Random(SEED);
  const counts = { kills: 0, atStart: 0, applied: 0, not: 0, completed: 0 };
  const tell = (failpoints: number) =>
    process.stderr.write(`      ${engine}: ${JSON.stringify({ ...counts, failpoints, seed: SEED })}\n`);
  try {
    await site.prepare();
    await site.bury();
    await site.restart(null);
    const first = await site.propose();
    site.server.arm(NEVER);
    expect(await site.apply(first)).to.equal(true);
    expect(await site.seen(first)).to.satisfy(isAll);
    const { since, atStart } = await site.bury();
    // What is read afterwards passes none.
    expect(since).to.be.greaterThan(20);
    await site.restart(null);
    let left: number[] = [];
    while (counts.kills < KILLS) {
      if (left.length === 0) left = shuffled(since, random);
      // Every second time at one of the last places, where the commit point is.
      const passing = random.below(2) === 0 ? (left.pop() ?? 1) : since - random.below(LAST);
      const what = `seed ${SEED}, failpoint ${passing} of ${since}`;
      const round = await site.propose();
      site.server.arm({ point: ANY, passing });
      const isAnswered = await site.apply(round);
      if (!isAnswered) counts.kills += 1;
      await site.bury();
      // The start that ends it is cut off as well at times.
      const isCutOff = random.below(4) === 0;
      const doom = isCutOff ? { point: ANY, passing: 1 + random.below(atStart) } : null;
      const again = await site.restart(doom);
      counts.kills += again;
      counts.atStart += again;
      if (site.server.log.includes('completed a change set after a crash')) counts.completed += 1;
      const seen = await site.seen(round);
      expect(seen, what).to.satisfy(isAnswered ? isAll : (each: Seen) => isAll(each) || isNone(each));
      if (isAll(seen)) counts.applied += 1;
      else {
        counts.not += 1;
        expect(await site.apply(round), what).to.equal(true);
        expect(await site.seen(round), what).to.satisfy(isAll);
      }
      expect(site.server.errors, what).to.deep.equal([]);
      if ((counts.applied + counts.not) % TOLD === 0) tell(since);
    }
    tell(since);
    // On PostgreSQL one commit applies all of it, and no failpoint stands behind that.
    if (engine === 'SQLite') expect(counts.applied).to.be.greaterThan(0);
    expect(counts.not).to.be.greaterThan(0);
  } finally {
    await site.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

const isAll = (seen: Seen) => Object.values(seen).every((each) => each);
const isNone = (seen: Seen) => Object.values(seen).every((each) => !each);

/** All places in some order. */
function shuffled(count: number, random: Random): number[] {
  const all = Array.from({ length: count }, (_, at) => at + 1);
  for (let at = all.length - 1; at > 0; at -= 1) {
    const other = random.below(at + 1);
    [all[at], all[other]] = [all[other] ?? 1, all[at] ?? 1];
  }
  return all;
}

describe('a change set that is applied while the server is killed', function () {
  this.timeout(300_000 + KILLS * 30_000);
  before(() => buildProgram('server'));
  after(() => removePrograms());

  for (const engine of ['SQLite', 'PostgreSQL'] as const)
    it(`is applied whole or not at all on ${engine}, and whoever starts next ends it`, () =>
      killAgainAndAgain(engine));
});
