// everyday: SQLite; full: PostgreSQL
/** Versions that their authors sign: what is said of them, and what is refused where they must be. */

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { propose, proposed, SETS, setOf } from '../support/change-sets.ts';
import { createComposite, publishWithChildren } from '../support/composites.ts';
import { addVersion, publish } from '../support/configurations.ts';
import { itOnSqlite } from '../support/engine.ts';
import { eventually } from '../support/eventually.ts';
import { gitClient } from '../support/git-client.ts';
import { createToken, startHawser } from '../support/hawser.ts';
import { assign } from '../support/parameter-files.ts';
import { beginAuthor, DRAFT, type PushAuthor } from '../support/push-author.ts';
import { etagOf, expectProblem, ok } from '../support/replies.ts';
import { prepareRings, rollOut } from '../support/rollouts.ts';
import { placeTag, signerLine, tagSigned } from '../support/signed-tags.ts';
import { newSshKey, type SshKey } from '../support/ssh-keys.ts';
import { started } from '../support/started.ts';

const TWO = { 'main.dsc.yaml': '$schema: x\nresources: []\n# two\n', 'modules/a.ps1': 'Write-Output 1\n' };
const NOBODY = { require: 'Off', allowedSigners: '' };

describe('signed versions', function () {
  this.timeout(60_000);
  const hawser = started(startHawser);
  const client = started(async () => gitClient(hawser));
  const ada = newSshKey();
  const eve = newSshKey('nistp256');
  let token: string;
  before(async () => {
    token = await createToken(hawser.client(), hawser.session, [
      ...['configurations.admin-override', 'nodes.read', 'nodes.write', 'nodes.assign-configuration'],
    ]);
  });

  const settingsOf = ({ api }: PushAuthor) => `${api}/settings`;
  const allow = (author: PushAuthor, allowedSigners: string, require = 'Off') =>
    ok(200, hawser.admin.put(settingsOf(author), { signing: { require, allowedSigners } }));
  const read = (author: PushAuthor, version: string) =>
    ok(200, hawser.admin.get(`${author.api}/versions/${version}`));
  const checkOf = async (author: PushAuthor, version = '1.1.0') =>
    (await read(author, version)).signatureCheck;
  async function signedAuthor(key: SshKey = ada, more: Parameters<typeof tagSigned>[2] = {}) {
    const author = await beginAuthor(hawser, client, token);
    await author.commit(TWO);
    const tag = await tagSigned(author, key, more);
    return { author, tag };
  }
  const keep = (author: PushAuthor, name = 'v1.1.0') =>
    author.git('push', '-f', '-o', 'keep', 'origin', name);
  const kept = async (author: PushAuthor) => {
    const { code, output } = await keep(author);
    expect(code, output).to.equal(0);
  };

  it('have a verdict by the text in force, and none without it', async () => {
    const { author } = await signedAuthor();
    await kept(author);
    expect(await read(author, '1.1.0')).to.include({
      status: 'Draft',
      signature: 'Ssh',
      signatureCheck: null,
    });
    await allow(author, signerLine(ada, 'ada@example.com,second@example.com'));
    const valid = {
      ...{ status: 'Valid', principal: 'ada@example.com', reason: null },
      fingerprint: (await checkOf(author)).fingerprint,
    };
    expect(valid.fingerprint).to.match(/^SHA256:[\w+/]{43}$/);
    expect(await checkOf(author)).to.deep.equal(valid);
    const unsigned = { status: 'Unsigned', principal: null, fingerprint: null, reason: null };
    expect(await checkOf(author, '1.0.0')).to.deep.equal(unsigned);
    await ok(201, addVersion(hawser.admin, author.name, { version: '1.2.0' }));
    expect(await checkOf(author, '1.2.0')).to.equal(null);
    const answer = await ok(200, publish(hawser.admin, author.name, '1.1.0'));
    expect(answer.signatureCheck).to.deep.equal(valid);
    const list: { version: string; signatureCheck: unknown }[] = await ok(
      200,
      hawser.admin.get(`${author.api}/versions`),
    );
    expect(list.map(({ version, signatureCheck }) => [version, signatureCheck])).to.deep.equal([
      ['1.2.0', null],
      ['1.1.0', valid],
      ['1.0.0', unsigned],
    ]);
    await allow(author, signerLine(eve));
    expect(await checkOf(author)).to.include({
      status: 'Invalid',
      reason: 'unknown_signer',
      principal: null,
    });
    // What was published within the time of the line stays valid once it has ended.
    const later = new Date(Date.now() + 86_400_000).toISOString().slice(0, 10).replaceAll('-', '');
    await allow(author, signerLine(ada, 'ada@example.com', `valid-before="${later}Z"`));
    expect(await checkOf(author)).to.deep.equal(valid);
    await allow(author, signerLine(ada, 'ada@example.com', 'valid-before="20200101Z"'));
    expect(await checkOf(author)).to.include({
      status: 'Invalid',
      reason: 'expired',
      principal: 'ada@example.com',
    });
    await ok(204, hawser.admin.delete(settingsOf(author)));
    expect(await checkOf(author)).to.equal(null);
  });

  it('are told apart by the reason why a signature does not count', async () => {
    const cases: [reason: string, more: Parameters<typeof tagSigned>[2]][] = [
      ['wrong_namespace', { namespace: 'file' }],
      ['wrong_name', { configurationName: 'another' }],
      ['wrong_entry_point', { message: 'x\n\nConfiguration: NAME\n' }],
      ['expired', { time: Date.parse('2020-01-01T00:00:00Z') }],
    ];
    const line = signerLine(ada, 'ada@example.com', 'valid-after="20240101Z"');
    for (const [expected, more] of cases) {
      const author = await beginAuthor(hawser, client, token);
      await author.commit(TWO);
      const message = more?.message?.replace('NAME', author.name);
      await tagSigned(author, ada, { ...more, ...(message && { message }) });
      await kept(author);
      await allow(author, line);
      const reason = expected === 'expired' ? 'not_yet_valid' : expected;
      expect(await checkOf(author), expected).to.include({ status: 'Invalid', reason });
    }
    const { author } = await signedAuthor();
    await kept(author);
    await allow(author, signerLine(ada));
    expect(await checkOf(author)).to.include({ status: 'Valid' });
    // The same tag on other files.
    const raw = await author.ok('cat-file', 'tag', 'v1.1.0');
    await author.commit({ 'modules/a.ps1': 'Write-Output 2\n' });
    const head = (await author.ok('rev-parse', 'HEAD')).trim();
    await placeTag(author, '1.1.0', Buffer.from(raw.replace(/^object .*/, `object ${head}`)));
    await kept(author);
    expect(await checkOf(author)).to.include({ status: 'Invalid', reason: 'bad_signature' });
  });

  it('that must be signed are not offered without, by whatever way', async () => {
    const author = await beginAuthor(hawser, client, token);
    await ok(201, addVersion(hawser.admin, author.name, { version: '1.1.0' }));
    await ok(200, hawser.admin.put(`${author.api}/versions/1.0.0/withdraw`, { reason: 'broken' }));
    await allow(author, signerLine(ada), 'Version');
    await prepareRings(hawser);
    const { name, api } = author;
    const required = [409, 'signature_required'] as const;
    await expectProblem(publish(hawser.admin, name, '1.1.0'), ...required);
    await expectProblem(rollOut(hawser.admin, name, '1.1.0'), ...required);
    await expectProblem(hawser.admin.delete(`${api}/versions/1.0.0/withdraw`), ...required);
    const check = await ok(200, hawser.admin.get(`${api}/versions/1.1.0/publish-check`));
    expect(check).to.include({ canPublish: false });
    expect(check.blockers.map(({ code }: { code: string }) => code)).to.deep.equal(['signature_required']);
    for (const deed of [
      { kind: 'PublishConfiguration', configurationName: name, version: '1.1.0' },
      { kind: 'Restore', configurationName: name, version: '1.0.0' },
    ]) {
      await expectProblem(hawser.admin.post('/api/v1/previews', { changes: [deed] }), ...required);
      await expectProblem(propose(hawser.admin, [deed]), ...required);
      // Who switches it off before, in the same set, may.
      const off = { kind: 'SetSettings', configurationName: name, signing: NOBODY };
      await ok(201, hawser.admin.post('/api/v1/previews', { changes: [off, deed] }));
    }
    await author.commit(TWO);
    await author.ok('tag', '-a', 'v1.2.0', '-m', 'x');
    const pushes: [code: string, args: string[]][] = [
      ['signature_required', ['origin', 'v1.2.0']],
      ['signature_required', ['-o', 'publish', 'origin', `HEAD:${DRAFT}/1.2.0`]],
      ['signature_required', ['-o', 'keep', 'origin', 'v1.2.0']],
      ['signature_required', ['-o', 'propose=It', 'origin', 'v1.2.0']],
    ];
    for (const [code, args] of pushes) {
      const { code: exit, output } = await author.git('push', ...args);
      expect(exit, output).to.not.equal(0);
      expect(output)
        .to.match(new RegExp(`remote rejected.*\\(${code}\\)`))
        .and.include('Nothing was changed.');
    }
    await tagSigned(author, eve, { version: '1.2.0' });
    const wrong = await author.git('push', '-o', 'keep', 'origin', 'v1.2.0');
    expect(wrong.output)
      .to.match(/remote rejected.*\(signature_invalid\)/)
      .and.include('unknown_signer');
    // A draft is free, and so is what a signer has signed.
    await author.ok('push', 'origin', `HEAD:${DRAFT}/1.2.0`);
    await tagSigned(author, ada, { version: '1.2.0' });
    await author.ok('push', '-o', 'keep', 'origin', 'v1.2.0');
    await allow(author, signerLine(ada, 'ada@example.com', 'valid-before="20200101Z"'), 'Version');
    const { json } = await expectProblem(
      publish(hawser.admin, name, '1.2.0'),
      409,
      'signature_invalid: expired',
    );
    expect(json.errors[0].path).to.equal('/signature');
    await allow(author, signerLine(ada), 'Version');
    await ok(200, publish(hawser.admin, name, '1.2.0'));
    await author.commit({ 'main.dsc.yaml': '$schema: x\nresources: []\n# three\n' });
    await tagSigned(author, ada, { version: '1.3.0' });
    await author.ok('push', 'origin', 'v1.3.0');
    expect(await checkOf(author, '1.3.0')).to.include({ status: 'Valid' });
  });

  it('are given to the nodes as their authors made them, of composites part by part', async () => {
    const { author, tag } = await signedAuthor();
    await author.ok('push', 'origin', 'v1.1.0');
    const node = await hawser.registerNode('pulled.example.org');
    await assign(hawser, node, author.name);
    const path = `/api/v1/nodes/${node.nodeId}/configuration`;
    const polled = await node.client.get(`${path}/checksum`);
    const answer = await node.client.get(`${path}/signature`);
    expect(answer.status, answer.text).to.equal(200);
    const { checksum } = polled.json;
    expect(answer.headers['etag']).to.equal(`"${checksum}"`);
    const raw = await author.ok('cat-file', 'tag', tag);
    const version = { configurationName: author.name, version: '1.1.0' };
    const part = { ...version, folder: '', tagObject: Buffer.from(raw).toString('base64') };
    expect(answer.json).to.deep.equal({ checksum, ...version, isComposite: false, parts: [part] });
    const headers = { 'If-None-Match': `"${checksum}"` };
    expect((await node.client.call('GET', `${path}/signature`, { headers })).status).to.equal(304);
    await ok(201, createComposite(hawser.admin, 'stack'));
    await publishWithChildren(hawser.admin, 'stack', '1.0.0', [author.name]);
    const composite = { configurationName: 'stack', isComposite: true };
    await ok(204, hawser.admin.put(path, composite));
    const whole = await ok(200, node.client.get(`${path}/signature`));
    expect(whole).to.deep.include({ configurationName: 'stack', version: '1.0.0', isComposite: true });
    expect(whole.parts).to.deep.equal([{ ...part, folder: `${author.name}/` }]);
    const other = await hawser.registerNode('other.example.org');
    await expectProblem(other.client.get(`${path}/signature`), 403, 'forbidden');
  });

  it('are counted, and what is published stays offered', async () => {
    const { author } = await signedAuthor();
    const node = await hawser.registerNode('signed.example.org');
    await assign(hawser, node, author.name);
    await allow(author, signerLine(ada), 'Version');
    const settings = settingsOf(author);
    expect((await ok(200, hawser.admin.get(settings))).signing.unsigned).to.deep.equal({
      versions: 1,
      nodes: 1,
    });
    const etag = await etagOf(hawser.admin, settings);
    const offered = async () =>
      (await ok(200, hawser.admin.get(`/api/v1/nodes/${node.nodeId}`))).offeredVersion;
    await author.ok('push', 'origin', 'v1.1.0');
    expect((await ok(200, hawser.admin.get(settings))).signing.unsigned).to.deep.equal({
      versions: 1,
      nodes: 0,
    });
    expect(await etagOf(hawser.admin, settings)).to.equal(etag);
    const before = await offered();
    expect(before).to.equal('1.1.0');
    await allow(author, signerLine(eve), 'Version');
    expect((await ok(200, hawser.admin.get(settings))).signing.unsigned).to.deep.equal({
      versions: 2,
      nodes: 1,
    });
    expect(await offered()).to.equal(before);
    const set = await proposed(hawser.admin, [
      { kind: 'SetSettings', configurationName: author.name, signing: NOBODY },
    ]);
    await ok(200, hawser.admin.post(`${setOf(set)}/apply`, { digest: set.digest }));
    expect((await ok(200, hawser.admin.get(`${SETS}/${set.id}`))).state).to.equal('Applied');
  });

  // With PostgreSQL the folders are a cache.
  itOnSqlite(
    'pass over tags that stock git makes in the folder, and keep those that were there',
    async () => {
      const author = await beginAuthor(hawser, client, token);
      const repository = `configurations/${author.name}.git`;
      const published = async (): Promise<string[]> => {
        const versions: { version: string; status: string }[] = await ok(
          200,
          hawser.admin.get(`${author.api}/versions`),
        );
        return versions.filter(({ status }) => status === 'Published').map(({ version }) => version);
      };
      const tagHere = (name: string, ...more: string[]) =>
        hawser.git(
          repository,
          ...['-c', 'user.name=eve', '-c', 'user.email=eve@example.org'],
          'tag',
          ...more,
          name,
          'v1.0.0^{commit}',
        );
      tagHere('v1.0.1', '-a', '-m', 'before');
      await eventually(async () => expect(await published()).to.include('1.0.1'));
      await allow(author, signerLine(ada), 'Version');
      tagHere('v1.0.2', '-a', '-m', 'past it');
      await tagSigned(author, ada, { version: '1.0.3' });
      const path = join(client.folder, 'raw-tag');
      writeFileSync(path, await author.ok('cat-file', 'tag', 'v1.0.3'));
      const oid = hawser.git(repository, 'hash-object', '-t', 'tag', '-w', path).trim();
      hawser.git(repository, 'update-ref', 'refs/tags/v1.0.3', oid);
      await eventually(async () => expect(await published()).to.include('1.0.3'));
      expect(await published()).to.deep.equal(['1.0.3', '1.0.1', '1.0.0']);
      // Whoever goes as a signer takes nothing, not at the next start either.
      await allow(author, signerLine(eve), 'Version');
      await hawser.restart();
      expect(await published()).to.deep.equal(['1.0.3', '1.0.1', '1.0.0']);
    },
  );
});
