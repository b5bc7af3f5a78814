// full: SQLite, PostgreSQL
/** `hawser adopt`, beside the running server: versions from a repository of stock git, or from a bundle. */

import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { HOUR } from '../../src/lib/clock.ts';
import { auditEntries } from '../support/audit.ts';
import { CONFIGURATIONS, MAIN, versionsOf } from '../support/configurations.ts';
import { eventually } from '../support/eventually.ts';
import { publishConfiguration, startHawser } from '../support/hawser.ts';
import { assign, configurationPath, pullParameters } from '../support/parameter-files.ts';
import { ok } from '../support/replies.ts';
import { type Ended, runHawser } from '../support/spawned.ts';
import { started } from '../support/started.ts';

const CAROL = ['-c', 'user.name=Carol', '-c', 'user.email=carol@example.org'];

describe('hawser adopt', () => {
  const hawser = started(startHawser);
  let folder: string;
  let work: string;

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'hawser-adopt-test-'));
    work = join(folder, 'work');
    mkdirSync(work);
    git('init', '--quiet');
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  function git(...args: string[]): string {
    return execFileSync('git', ['-C', work, ...CAROL, ...args], { encoding: 'utf8' }).trim();
  }

  function commit(path: string, content: string): void {
    writeFileSync(join(work, path), content);
    git('add', '.');
    git('commit', '--quiet', '-m', 'From outside');
  }

  function tag(name: string, ...on: string[]): void {
    git('tag', '-a', '-m', 'Release', name, ...on);
  }

  const adopt = (target: string, path = work): Promise<Ended> =>
    runHawser(hawser.folder, {}, ['adopt', target, path]);
  const lines = ({ stdout }: Ended) => stdout.trim().split('\n');
  it('is refused while a freeze lasts', async () => {
    commit(MAIN, 'one\n');
    tag('v1.0.0');
    const until = new Date(hawser.clock.now() + HOUR).toISOString();
    await ok(200, hawser.admin.put('/api/v1/settings/freeze', { reason: 'the year ends', until }));
    const refused = await adopt('configurations/frozen');
    expect(refused.code).to.equal(1);
    expect(refused.stderr).to.include(until).and.to.include('the year ends');
    await ok(204, hawser.admin.delete('/api/v1/settings/freeze'));
    expect(lines(await adopt('configurations/frozen'))).to.deep.equal(['refs/tags/v1.0.0: taken']);
  });

  const listed = async (name: string) => {
    const list: { version: string; status: string }[] = await ok(200, hawser.admin.get(versionsOf(name)));
    return list.map(({ version, status }) => `${version} ${status}`);
  };

  it('makes a configuration of what stock git made, which a node pulls at once', async () => {
    commit(MAIN, 'one\n');
    tag('v1.0.0');
    commit(MAIN, 'two\n');
    tag('v1.10.0');
    const adopted = await adopt('configurations/foreign');
    expect(adopted.stderr).to.equal('');
    expect(lines(adopted)).to.deep.equal(['refs/tags/v1.0.0: taken', 'refs/tags/v1.10.0: taken']);
    expect(adopted.code).to.equal(0);
    await eventually(async () => {
      expect(await listed('foreign')).to.deep.equal(['1.10.0 Published', '1.0.0 Published']);
    });
    const node = await hawser.registerNode('foreign.example.org');
    await assign(hawser, node, 'foreign');
    expect((await node.client.get(configurationPath(node))).text).to.equal('two\n');
    const shown = await ok(200, hawser.admin.get(`${versionsOf('foreign')}/1.0.0`));
    expect(shown.commit).to.equal(git('rev-parse', 'v1.0.0^{commit}'));
    const again = await adopt('configurations/foreign');
    expect(lines(again)).to.deep.equal([
      'refs/tags/v1.0.0: there already',
      'refs/tags/v1.10.0: there already',
    ]);
    expect(again.code).to.equal(0);
  });

  it('records each version in the audit trail, once', async () => {
    commit(MAIN, 'one\n');
    tag('v1.0.0');
    await adopt('configurations/told');
    await adopt('configurations/told');
    const { id } = await ok(200, hawser.admin.get(`${CONFIGURATIONS}/told`));
    const entries = await auditEntries(hawser, `resourceId=${id}`);
    const told = entries.map(({ action, details }) => [action, details?.['version'], details?.['commit']]);
    expect(told).to.deep.include(['configuration.version_published', '1.0.0', git('rev-parse', 'HEAD')]);
    expect(entries).to.have.length(2);
  });

  it('takes the rest where a tag is lightweight, differs from a published version, or is unusable', async () => {
    await publishConfiguration(hawser.admin, 'mixed', { '1.0.0': { [MAIN]: 'here\n' } });
    const [before] = await ok(200, hawser.admin.get(versionsOf('mixed')));
    commit(MAIN, 'there\n');
    tag('v1.0.0');
    tag('v1.1.0');
    tag('nightly');
    git('tag', 'v1.2.0');
    git('rm', '--quiet', MAIN);
    commit('other.txt', 'x\n');
    tag('v1.3.0');
    const adopted = await adopt('configurations/mixed');
    expect(adopted.code).to.equal(1);
    expect(lines(adopted)).to.deep.equal([
      'refs/tags/nightly: passed over, it is named like no version',
      'refs/tags/v1.2.0: passed over, it is a lightweight tag',
      'refs/tags/v1.0.0: refused, another tag of this name is there, and published versions never move',
      'refs/tags/v1.1.0: taken',
      `refs/tags/v1.3.0: refused, There is no file at "${MAIN}"`,
    ]);
    await eventually(async () => {
      expect(await listed('mixed')).to.deep.equal(['1.1.0 Published', '1.0.0 Published']);
    });
    const kept = await ok(200, hawser.admin.get(`${versionsOf('mixed')}/1.0.0`));
    expect(kept.commit).to.equal(before.commit);
  });

  it('takes a bundle, and a withdrawn version only as withdrawn', async () => {
    commit(MAIN, 'one\n');
    tag('v1.0.0');
    commit(MAIN, 'bad\n');
    tag('v1.1.0');
    git('tag', '-a', '-m', 'It breaks nodes', 'withdrawn/v1.1.0', 'v1.1.0');
    const bundle = join(folder, 'site.bundle');
    git('bundle', 'create', '--quiet', bundle, '--all');
    const adopted = await adopt('configurations/bundled', bundle);
    expect(adopted.stderr).to.equal('');
    expect(lines(adopted)).to.have.members(
      ['v1.0.0', 'v1.1.0', 'withdrawn/v1.1.0'].map((name) => `refs/tags/${name}: taken`),
    );
    const node = await hawser.registerNode('bundled.example.org');
    // The command has told the server, which takes the versions a moment later.
    await eventually(() => assign(hawser, node, 'bundled'));
    await eventually(async () => {
      expect((await node.client.get(configurationPath(node))).text).to.equal('one\n');
    });
    const withdrawn = await eventually(() => ok(200, hawser.admin.get(`${versionsOf('bundled')}/1.1.0`)));
    expect(withdrawn.withdrawn.reason).to.equal('It breaks nodes');
  });

  it('takes parameters of a configuration that is there, and of no other', async () => {
    await publishConfiguration(hawser.admin, 'tuned', { '1.0.0': { [MAIN]: '$schema: x\nresources: []\n' } });
    commit('parameters.yaml', 'parameters:\n  port: 1\n');
    tag('Default/v1.0.0');
    commit('parameters.yaml', 'parameters:\n  port: 2\n');
    tag('Default/v1.1.0');
    git('tag', '-a', '-m', 'The port is taken', 'withdrawn/Default/v1.1.0', 'Default/v1.1.0');
    const refused = await adopt('parameters/nobody');
    expect(refused.stderr).to.match(/^hawser: there is no configuration "nobody".*\n$/);
    expect(refused.code).to.equal(1);
    const adopted = await adopt('parameters/tuned');
    expect(lines(adopted)).to.have.members(
      ['Default/v1.0.0', 'Default/v1.1.0', 'withdrawn/Default/v1.1.0'].map(
        (name) => `refs/tags/${name}: taken`,
      ),
    );
    const node = await hawser.registerNode('tuned.example.org');
    await assign(hawser, node, 'tuned');
    await eventually(async () => {
      expect(await pullParameters(node)).to.include('port: 1');
    });
  });

  it('refuses what is neither a repository nor a bundle, and a target of no kind', async () => {
    const file = join(folder, 'notes.txt');
    writeFileSync(file, 'no bundle');
    for (const path of [file, join(folder, 'absent')]) {
      const { code, stdout, stderr } = await adopt('configurations/none', path);
      expect(stdout).to.equal('');
      expect(stderr).to.match(/^hawser: .+\n$/);
      expect(code).to.equal(1);
    }
    expect((await adopt('things/web')).code).to.equal(64);
    expect((await hawser.admin.get(`${CONFIGURATIONS}/none`)).status).to.equal(404);
  });
});
