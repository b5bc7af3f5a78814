// full: SQLite, PostgreSQL
import { join } from 'node:path';
import { expect } from 'chai';
import { DAY } from '../../src/lib/clock.ts';
import { entriesDuring, expectNoEntry, onlyEntry, shortly } from '../support/audit-table.ts';
import { addVersion, CONFIGURATIONS, MAIN, publish, versionsOf } from '../support/configurations.ts';
import { itOnSqlite } from '../support/engine.ts';
import { eraseUnreachable } from '../support/erasing.ts';
import { eventually } from '../support/eventually.ts';
import { gitClient } from '../support/git-client.ts';
import { createToken, type NodeUnderTest, startHawser } from '../support/hawser.ts';
import { Outside } from '../support/outside.ts';
import { expectInvalid, expectProblem, ok } from '../support/replies.ts';
import { cleanUp, deletedBy, publishVersions, versionsLeft } from '../support/retention.ts';
import { started } from '../support/started.ts';
import { offerAgain, versionOf, withdraw } from '../support/withdrawals.ts';

describe('withdrawing a version of a configuration', () => {
  const hawser = started(startHawser);

  const repository = (name: string) => `configurations/${name}.git`;
  const refs = (name: string) => hawser.git(repository(name), 'for-each-ref');
  const of = (name: string) => ok(200, hawser.admin.get(`${CONFIGURATIONS}/${name}`));
  const show = (name: string, version: string) => ok(200, hawser.admin.get(versionOf(name, version)));
  const left = (name: string) => versionsLeft(hawser.admin, `${CONFIGURATIONS}/${name}`);

  async function assign(name: string, wish: object = {}): Promise<NodeUnderTest> {
    const node = await hawser.registerNode(`${name}-${Math.random()}.example.org`);
    const path = `/api/v1/nodes/${node.nodeId}/configuration`;
    await ok(204, hawser.admin.put(path, { configurationName: name, ...wish }));
    return node;
  }

  const gets = async (node: NodeUnderTest): Promise<string> => {
    const reply = await node.client.get(`/api/v1/nodes/${node.nodeId}/configuration/checksum`);
    return reply.json.version ?? reply.json.code;
  };
  const ready = async () => {
    const reply = await ok(200, hawser.client().get('/health/ready'));
    return String(reply.checks.repositories);
  };
  const warnings = (text: string) =>
    hawser
      .log()
      .split('\n')
      .filter((line) => /"level":("warn"|40)/.test(line) && line.includes(text)).length;

  it('gives nodes the next that fits at their next poll, and the version again after it is offered again', async () => {
    await publishVersions(hawser.admin, 'web', '1.0.0', '1.1.0', '2.0.0-rc.1');
    const [stable, channel] = [await assign('web'), await assign('web', { prereleaseChannel: 'rc' })];
    expect([await gets(stable), await gets(channel)]).to.deep.equal(['1.1.0', '2.0.0-rc.1']);
    const before = await show('web', '1.1.0');
    expect(before.withdrawn).to.equal(null);

    const after = await ok(
      200,
      withdraw(hawser.admin, 'web', '1.1.0', '\r\n \nIt fills the disk.\r\nAlways.\n\n'),
    );
    expect(after.withdrawn.at).to.match(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.000Z$/);
    const { files: _files, ...rest } = before;
    const withdrawn = { at: after.withdrawn.at, by: 'admin', reason: 'It fills the disk.\nAlways.' };
    expect(after).to.deep.equal({ ...rest, withdrawn });
    expect(await show('web', '1.1.0')).to.deep.equal({ ...before, withdrawn });
    expect([await gets(stable), await gets(channel)]).to.deep.equal(['1.0.0', '2.0.0-rc.1']);
    expect(await of('web')).to.include({
      versionCount: 3,
      latestVersion: '2.0.0-rc.1',
      latestPublishedVersion: '2.0.0-rc.1',
    });
    const list = await ok(200, hawser.admin.get(versionsOf('web')));
    expect(list.map((each: typeof after) => [each.version, each.status, each.withdrawn])).to.deep.equal([
      ['2.0.0-rc.1', 'Published', null],
      ['1.1.0', 'Published', withdrawn],
      ['1.0.0', 'Published', null],
    ]);

    expect((await offerAgain(hawser.admin, 'web', '1.1.0')).status).to.equal(204);
    expect(await gets(stable)).to.equal('1.1.0');
    expect(await show('web', '1.1.0')).to.deep.equal(before);
  });

  it('is an annotated tag on the tag of the version, which stock git shows', async () => {
    await publishVersions(hawser.admin, 'tagged', '1.0.0', '1.1.0');
    const { withdrawn } = await ok(200, withdraw(hawser.admin, 'tagged', '1.1.0', 'Two\n\nparagraphs: yes'));
    const format = '%(objecttype) %(object) %(type) %(tag) %(taggername) %(taggerdate:unix)';
    const [ref] = hawser
      .git(repository('tagged'), 'for-each-ref', `--format=${format}`, 'refs/tags/withdrawn/v1.1.0')
      .split('\n');
    const target = hawser.git(repository('tagged'), 'rev-parse', 'refs/tags/v1.1.0').trim();
    expect(ref).to.equal(`tag ${target} tag withdrawn/v1.1.0 admin ${Date.parse(withdrawn.at) / 1_000}`);
    const body = hawser.git(
      repository('tagged'),
      'for-each-ref',
      '--format=%(contents)',
      'refs/tags/withdrawn',
    );
    expect(body.trim()).to.equal('Two\n\nparagraphs: yes');
    hawser.git(repository('tagged'), 'fsck', '--strict');
  });

  it('writes nothing the second time, and keeps the first reason; each deed has one entry in the audit trail', async () => {
    await publishVersions(hawser.admin, 'twice', '1.0.0', '1.1.0');
    const { id } = await of('twice');
    const { commit } = await show('twice', '1.1.0');
    const admin = hawser.client().with({ Cookie: hawser.session });
    const entry = await onlyEntry(hawser, admin, (client) => withdraw(client, 'twice', '1.1.0', 'first'));
    expect(shortly(entry)).to.deep.equal({
      action: 'configuration.version_withdrawn',
      resource_type: 'Configuration',
      resource_id: id,
      details: { name: 'twice', version: '1.1.0', commit, reason: 'first' },
    });
    const [before, text] = [refs('twice'), await show('twice', '1.1.0')];
    hawser.clock.advance(5_000);
    const { result, entries } = await entriesDuring(hawser, () =>
      withdraw(hawser.admin, 'twice', '1.1.0', 'second'),
    );
    expect(result.status).to.equal(200);
    expect(result.json.withdrawn).to.deep.equal(text.withdrawn);
    expect(entries).to.deep.equal([]);
    expect(refs('twice')).to.equal(before);
    const back = await onlyEntry(hawser, admin, (client) => offerAgain(client, 'twice', '1.1.0'));
    expect(shortly(back)).to.deep.equal({
      action: 'configuration.version_offered_again',
      resource_type: 'Configuration',
      resource_id: id,
      details: { name: 'twice', version: '1.1.0', commit },
    });
    await expectNoEntry(hawser, 404, () => offerAgain(hawser.admin, 'twice', '1.1.0'));
  });

  it('refuses what cannot be withdrawn or is no reason, and changes nothing', async () => {
    await publishVersions(hawser.admin, 'bad', '1.0.0', '1.1.0');
    await ok(201, addVersion(hawser.admin, 'bad', { version: '2.0.0' }));
    const before = refs('bad');
    const put = (version: string, body: unknown, query = '') =>
      hawser.admin.put(`${versionOf('bad', version)}/withdraw${query}`, body);
    await expectNoEntry(hawser, 409, () => put('2.0.0', { reason: 'a draft' }));
    await expectProblem(put('2.0.0', { reason: 'a draft' }), 409, 'not_published');
    await expectProblem(put('2.0.0', undefined, '?dryRun=true'), 409, 'not_published');
    await expectProblem(put('3.0.0', { reason: 'unknown' }), 404, 'not_found');
    await expectProblem(put('3.0.0', undefined, '?dryRun=true'), 404, 'not_found');
    await expectProblem(withdraw(hawser.admin, 'nothing', '1.0.0'), 404, 'not_found');
    await expectProblem(offerAgain(hawser.admin, 'bad', '1.1.0'), 404, 'not_found');
    await expectProblem(offerAgain(hawser.admin, 'bad', '2.0.0'), 404, 'not_found');
    await expectProblem(offerAgain(hawser.admin, 'bad', '3.0.0'), 404, 'not_found');
    for (const reason of [' \r\n\n', 'x'.repeat(1_001), 7, null, 'x\n-----BEGIN PGP SIGNATURE-----'])
      await expectInvalid(put('1.1.0', { reason }), '/reason', String(reason));
    for (const body of [undefined, {}]) await expectInvalid(put('1.1.0', body));
    await expectInvalid(put('1.1.0', { reason: 'x', more: 1 }));
    await expectInvalid(put('1.1.0', { reason: 'x' }, '?dryRun=maybe'));
    await expectInvalid(put('1.1.0', { reason: '' }, '?dryRun=true'));
    expect(refs('bad')).to.equal(before);
    const longest = '𝄞'.repeat(1_000);
    expect((await ok(200, put('1.1.0', { reason: longest }))).withdrawn.reason).to.equal(longest);
  });

  it('heeds the ETag of the version', async () => {
    await publishVersions(hawser.admin, 'rights', '1.0.0', '1.1.0');
    const { etag } = (await hawser.admin.get(versionOf('rights', '1.1.0'))).headers;
    const seen = hawser.admin.with({ 'If-Match': String(etag) });
    await ok(200, withdraw(seen, 'rights', '1.1.0'));
    await expectProblem(offerAgain(seen, 'rights', '1.1.0'), 412, 'precondition_failed');
    expect((await show('rights', '1.1.0')).withdrawn).to.not.equal(null);
  });

  it('moves main to the next stable version, and removes it where none is left', async () => {
    await publishVersions(hawser.admin, 'main', '1.0.0', '1.1.0');
    const outside = new Outside(hawser, 'main');
    const at = () => outside.git('for-each-ref', '--format=%(objectname)', 'refs/heads/main');
    const commit = (version: string) => outside.git('rev-parse', `v${version}^{commit}`);
    await ok(200, withdraw(hawser.admin, 'main', '1.1.0'));
    expect(at()).to.equal(commit('1.0.0'));
    await ok(201, addVersion(hawser.admin, 'main', { version: '2.0.0-rc.1' }));
    await ok(200, publish(hawser.admin, 'main', '2.0.0-rc.1'));
    expect(outside.git('rev-parse', 'v2.0.0-rc.1^{commit}^')).to.equal(commit('1.0.0'));
    await ok(200, withdraw(hawser.admin, 'main', '1.0.0'));
    expect(at()).to.equal('');
    expect(outside.git('symbolic-ref', 'HEAD')).to.equal('refs/heads/main');
    await ok(200, withdraw(hawser.admin, 'main', '2.0.0-rc.1'));
    expect(await of('main')).to.include({ versionCount: 3, latestPublishedVersion: null });
    const node = await hawser.registerNode('main.example.org');
    const path = `/api/v1/nodes/${node.nodeId}/configuration`;
    await expectProblem(hawser.admin.put(path, { configurationName: 'main' }), 409, 'no_eligible_version');
    const client = gitClient(hawser);
    try {
      const scopes = ['configurations.admin-override', 'configurations.grants'];
      const token = await createToken(hawser.client(), hawser.session, scopes);
      const clone = join(client.folder, 'clone');
      const cloned = await client.run('clone', '--quiet', client.url('configurations/main', token), clone);
      expect(cloned.code, cloned.output).to.equal(0);
      const tags = (await client.run('-C', clone, 'tag', '-n', '--list', 'withdrawn/*')).output;
      expect(tags).to.match(/withdrawn\/v1\.0\.0 +bad\nwithdrawn\/v1\.1\.0 +bad\n/);
    } finally {
      client.close();
    }
    outside.git('fsck', '--strict');
    await ok(204, offerAgain(hawser.admin, 'main', '1.0.0'));
    expect(at()).to.equal(commit('1.0.0'));
    await ok(204, offerAgain(hawser.admin, 'main', '1.1.0'));
    expect(at()).to.equal(commit('1.1.0'));
  });

  itOnSqlite('leaves a branch main alone that stands at no version', async () => {
    await publishVersions(hawser.admin, 'own-main', '1.0.0-rc.1');
    const outside = new Outside(hawser, 'own-main');
    const commit = outside.commit();
    outside.git('update-ref', 'refs/heads/main', commit);
    await ok(200, withdraw(hawser.admin, 'own-main', '1.0.0-rc.1'));
    expect(outside.git('rev-parse', 'main')).to.equal(commit);
  });

  it('counts the version for the next number and keeps its name taken, but takes no entry point from it', async () => {
    await publishVersions(hawser.admin, 'numbers', '1.0.0');
    const other = {
      files: { 'other.dsc.yaml': '$schema: x\nresources: []\n', [MAIN]: '$schema: x\nresources: []\n' },
    };
    await ok(
      201,
      addVersion(hawser.admin, 'numbers', { version: '1.1.0', entryPoint: 'other.dsc.yaml' }, other),
    );
    await ok(200, publish(hawser.admin, 'numbers', '1.1.0'));
    await ok(200, withdraw(hawser.admin, 'numbers', '1.1.0'));
    await expectProblem(addVersion(hawser.admin, 'numbers', { version: '1.1.0' }), 409, 'version_exists');
    expect(await ok(201, addVersion(hawser.admin, 'numbers'))).to.include({
      version: '1.1.1',
      entryPoint: MAIN,
    });
    await expectProblem(hawser.admin.delete(versionOf('numbers', '1.1.0')), 409, 'published_version');
    await expectProblem(publish(hawser.admin, 'numbers', '1.1.0'), 409, 'already_published');
  });

  itOnSqlite('changes the entry point of no other version', async () => {
    await publishVersions(hawser.admin, 'heirs', '1.0.0');
    const outside = new Outside(hawser, 'heirs');
    const entries = [outside.file(MAIN), outside.file('other.yaml')];
    outside.git('tag', '-a', 'v1.1.0', '-m', 'x\n\nEntry-Point: other.yaml', outside.commit(entries));
    outside.tag('1.2.0', entries);
    await eventually(async () => expect((await show('heirs', '1.2.0')).entryPoint).to.equal('other.yaml'));
    await ok(200, withdraw(hawser.admin, 'heirs', '1.1.0'));
    expect((await show('heirs', '1.2.0')).entryPoint).to.equal('other.yaml');
  });

  itOnSqlite('is the same when stock git does it and takes it back, loose or packed', async () => {
    await publishVersions(hawser.admin, 'outside', '1.0.0', '1.1.0');
    const node = await assign('outside');
    const outside = new Outside(hawser, 'outside');
    outside.git('tag', '-a', 'withdrawn/v1.1.0', '-m', 'from outside', 'v1.1.0');
    await eventually(async () => expect(await gets(node)).to.equal('1.0.0'));
    const { withdrawn } = await show('outside', '1.1.0');
    expect(withdrawn).to.include({ by: 'Carol', reason: 'from outside' });
    await eventually(async () =>
      expect(outside.git('rev-parse', 'main')).to.equal(outside.git('rev-parse', 'v1.0.0^{commit}')),
    );
    outside.git('pack-refs', '--all');
    await ok(200, withdraw(hawser.admin, 'outside', '1.1.0', 'again'));
    expect((await show('outside', '1.1.0')).withdrawn).to.deep.equal(withdrawn);
    await hawser.restart();
    node.client = hawser.client(node.identity);
    expect((await show('outside', '1.1.0')).withdrawn).to.deep.equal(withdrawn);
    outside.git('tag', '-d', 'withdrawn/v1.1.0');
    await eventually(async () => expect(await gets(node)).to.equal('1.1.0'));
    // And one that was made here, both ways round.
    await ok(200, withdraw(hawser.admin, 'outside', '1.1.0'));
    outside.git('tag', '-d', 'withdrawn/v1.1.0');
    await eventually(async () => expect(await gets(node)).to.equal('1.1.0'));
    outside.git('tag', '-a', 'withdrawn/v1.1.0', '-m', 'from outside', 'v1.1.0');
    outside.git('pack-refs', '--all');
    await eventually(async () => expect(await gets(node)).to.equal('1.0.0'));
    await ok(204, offerAgain(hawser.admin, 'outside', '1.1.0'));
    expect(await gets(node)).to.equal('1.1.0');
    outside.git('fsck', '--strict');
  });

  itOnSqlite('takes the signature of a stock tag for no part of the reason', async () => {
    await publishVersions(hawser.admin, 'signed', '1.0.0', '1.1.0', '1.2.0');
    const outside = new Outside(hawser, 'signed');
    for (const [version, kind] of [
      ['1.1.0', 'PGP SIGNATURE'],
      ['1.2.0', 'SSH SIGNATURE'],
    ]) {
      const target = outside.git('rev-parse', `refs/tags/v${version}`);
      const tag =
        `object ${target}\ntype tag\ntag withdrawn/v${version}\ntagger Carol <carol@example.org> 1790000000 +0200\n\n` +
        `It is bad.\n-----BEGIN ${kind}-----\n\nabc\n-----END ${kind}-----\n`;
      const oid = outside.pipe(tag, 'hash-object', '-w', '-t', 'tag', '--stdin');
      outside.git('update-ref', `refs/tags/withdrawn/v${version}`, oid);
    }
    for (const version of ['1.1.0', '1.2.0'])
      await eventually(async () =>
        expect((await show('signed', version)).withdrawn).to.deep.equal({
          at: '2026-09-21T14:13:20.000Z',
          by: 'Carol',
          reason: 'It is bad.',
        }),
      );
  });

  itOnSqlite(
    'does not count as anything else than an annotated tag of its name on the tag as it is now',
    async () => {
      await publishVersions(hawser.admin, 'none', '1.0.0', '1.1.0', '1.2.0', '1.3.0', '1.4.0');
      const outside = new Outside(hawser, 'none');
      outside.git('tag', 'withdrawn/v1.0.0', 'v1.0.0^{commit}');
      outside.git('tag', 'withdrawn/v1.1.0', 'v1.1.0');
      outside.git('tag', '-a', 'withdrawn/v1.2.0', '-m', 'on the commit', 'v1.2.0^{commit}');
      outside.git('tag', '-a', 'other', '-m', 'another name', 'v1.3.0');
      outside.git('update-ref', 'refs/tags/withdrawn/v1.3.0', 'refs/tags/other');
      outside.git('tag', '-d', 'other');
      outside.git('tag', '-a', 'withdrawn/v1.4.0', '-m', 'the tag before', 'v1.4.0');
      outside.git('tag', '-f', '-a', 'v1.4.0', '-m', 'made anew', 'v1.4.0^{commit}');
      const faulty = ['1.2.0', '1.3.0', '1.4.0'];
      await eventually(async () => {
        for (const version of faulty) expect(await ready()).to.contain(`refs/tags/withdrawn/v${version}`);
      });
      for (const version of ['1.0.0', '1.1.0', ...faulty])
        expect((await show('none', version)).withdrawn, version).to.equal(null);
      for (const version of ['1.0.0', '1.1.0']) {
        expect(await ready()).to.not.contain(`withdrawn/v${version}`);
        expect(warnings(`withdrawn/v${version}`)).to.equal(0);
      }
      for (const version of faulty) expect(warnings(`withdrawn/v${version}`), version).to.equal(1);
      await eventually(async () =>
        expect(outside.git('rev-parse', 'main')).to.equal(outside.git('rev-parse', 'v1.4.0^{commit}')),
      );
      // The API may use the names all the same.
      for (const version of ['1.0.0', '1.1.0', ...faulty]) {
        expect((await ok(200, withdraw(hawser.admin, 'none', version))).withdrawn, version).to.include({
          by: 'admin',
        });
      }
      await eventually(async () => expect(await ready()).to.equal('Ok'));
      outside.git('fsck', '--strict');
    },
  );

  itOnSqlite(
    'is refused while a tag stands where the folder of withdrawals would be, and changes nothing',
    async () => {
      await publishVersions(hawser.admin, 'blocked', '1.0.0', '1.1.0');
      const outside = new Outside(hawser, 'blocked');
      outside.git('tag', 'withdrawn', 'main');
      const before = refs('blocked');
      await expectProblem(withdraw(hawser.admin, 'blocked', '1.1.0'), 409, 'in_use');
      expect(refs('blocked')).to.equal(before);
      outside.git('pack-refs', '--all');
      await expectProblem(withdraw(hawser.admin, 'blocked', '1.1.0'), 409, 'in_use');
      expect((await show('blocked', '1.1.0')).withdrawn).to.equal(null);
      outside.git('tag', '-d', 'withdrawn');
      await ok(200, withdraw(hawser.admin, 'blocked', '1.1.0'));
    },
  );

  it('takes back a version that is no SemVer', async () => {
    await publishVersions(hawser.admin, 'odd', '1.0.0');
    await ok(200, hawser.admin.put(`${CONFIGURATIONS}/odd/settings`, { requireSemVer: false }));
    for (const version of ['autumn', 'winter']) {
      await ok(201, addVersion(hawser.admin, 'odd', { version }));
      await ok(200, publish(hawser.admin, 'odd', version));
    }
    await ok(200, withdraw(hawser.admin, 'odd', '1.0.0'));
    const node = await assign('odd');
    expect(await gets(node)).to.equal('winter');
    await ok(200, withdraw(hawser.admin, 'odd', 'winter'));
    expect(await gets(node)).to.equal('autumn');
    await ok(204, offerAgain(hawser.admin, 'odd', 'winter'));
    expect(await gets(node)).to.equal('winter');
  });

  it('goes with the version, by a cleanup from every clone, and its objects with it', async () => {
    await publishVersions(hawser.admin, 'gone', '1.0.0', '1.1.0', '1.2.0', '1.3.0');
    await ok(200, withdraw(hawser.admin, 'gone', '1.0.0', 'the old one'));
    await ok(200, withdraw(hawser.admin, 'gone', '1.3.0', 'the new one'));
    const outside = new Outside(hawser, 'gone');
    const blobs = ['1.0.0', '1.3.0'].map((version) => outside.git('rev-parse', `v${version}:own.txt`));
    const scopes = ['configurations.admin-override', 'configurations.grants'];
    const token = await createToken(hawser.client(), hawser.session, scopes);
    hawser.clock.advance(2 * DAY);
    const wish = { keepVersions: 0, keepDays: 1, keepReleaseVersions: false };
    const result = await cleanUp(hawser.admin, 'configurations', wish);
    expect(deletedBy(result).filter((text) => text.startsWith('gone'))).to.deep.equal([
      'gone 1.0.0',
      'gone 1.1.0',
      'gone 1.3.0',
    ]);
    expect(outside.git('for-each-ref', '--format=%(refname)').split('\n')).to.deep.equal([
      'refs/heads/main',
      'refs/tags/v1.2.0',
    ]);
    const client = gitClient(hawser);
    try {
      const clone = join(client.folder, 'clone');
      const cloned = await client.run('clone', '--quiet', client.url('configurations/gone', token), clone);
      expect(cloned.code, cloned.output).to.equal(0);
      expect((await client.run('-C', clone, 'tag')).output.trim()).to.equal('v1.2.0');
      for (const blob of blobs)
        expect((await client.run('-C', clone, 'cat-file', '-e', blob)).code).to.not.equal(0);
      expect((await client.run('-C', clone, 'fsck', '--strict')).code).to.equal(0);
    } finally {
      client.close();
    }
    await eraseUnreachable(hawser, 'configurations/gone.git');
    for (const blob of blobs) expect(() => outside.git('cat-file', '-e', blob)).to.throw();
    outside.git('fsck', '--strict');
    expect(await left('gone')).to.deep.equal(['1.2.0']);
  });

  itOnSqlite(
    'goes with the version whose tag stock git deletes, and one that is made anew is offered',
    async () => {
      await publishVersions(hawser.admin, 'anew', '1.0.0', '1.1.0');
      await ok(200, withdraw(hawser.admin, 'anew', '1.1.0'));
      const outside = new Outside(hawser, 'anew');
      outside.git('tag', '-d', 'v1.1.0');
      await eventually(async () => expect(outside.git('tag')).to.equal('v1.0.0'));
      expect(await left('anew')).to.deep.equal(['1.0.0']);
      await ok(201, addVersion(hawser.admin, 'anew', { version: '1.1.0' }));
      await ok(200, publish(hawser.admin, 'anew', '1.1.0'));
      expect((await show('anew', '1.1.0')).withdrawn).to.equal(null);
      expect(await of('anew')).to.include({ latestPublishedVersion: '1.1.0' });
    },
  );
});
