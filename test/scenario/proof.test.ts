// everyday: SQLite; full: PostgreSQL
import { expect } from 'chai';
import { publishWithChildren } from '../support/composites.ts';
import { addVersion, MAIN, publish } from '../support/configurations.ts';
import { cellsOf, parseCsv } from '../support/csv.ts';
import { eventually } from '../support/eventually.ts';
import { type NodeUnderTest, publishConfiguration, startHawser } from '../support/hawser.ts';
import { assign, saveParameters } from '../support/parameter-files.ts';
import {
  expectProof,
  manifestPath,
  proofPath,
  pulled,
  ran,
  readProof,
  reported,
  told,
} from '../support/proof.ts';
import { expectInvalid, expectProblem, ok } from '../support/replies.ts';
import { started } from '../support/started.ts';

/** So many nodes to which it is assigned, and no others. */
const direct = (offered: number) => ({ offered, direct: offered, viaComposites: 0, pinned: 0 });
const NOTHING_RUN = 'a'.repeat(64);

/** Who runs exactly this version, and why the others do not. */
describe('the proof of a version', () => {
  const hawser = started(startHawser);
  const nodes = new Map<string, NodeUnderTest>();
  const node = (name: string): NodeUnderTest => {
    const found = nodes.get(`${name}.example.org`);
    if (!found) throw new Error(`there is no node ${name}`);
    return found;
  };
  const rowsOf = (query = '', path = proofPath('web', '1.0.0')) =>
    ok(200, hawser.admin.get(`${path}/nodes${query}`));
  const namesOf = async (query: string, path?: string): Promise<string[]> =>
    (await rowsOf(query, path)).map(({ fqdn }: { fqdn: string }) => fqdn.split('.', 1)[0]);

  before(async () => {
    await publishConfiguration(hawser.admin, 'web', { '1.0.0': { [MAIN]: '$schema: x\nresources: []\n' } });
    await publishConfiguration(hawser.admin, 'other', { '1.0.0': { [MAIN]: '$schema: x\nresources: []\n' } });
    for (const name of ['declares', 'downloads', 'goes', 'never', 'polls', 'unassigned']) {
      const fqdn = `${name}.example.org`;
      nodes.set(fqdn, await hawser.registerNode(fqdn));
    }
    for (const name of ['declares', 'downloads', 'goes', 'never', 'polls'])
      await assign(hawser, node(name), 'web');
    await ran(node('declares'));
    await pulled(node('downloads'));
    await told(node('polls'));
    await reported(node('goes'), await told(node('goes')));
    await reported(node('goes'), NOTHING_RUN);
  });

  it('counts who declares, was served and was told what it is offered, and says why the others do not run it', async () => {
    await expectProof(hawser.admin, proofPath('web', '1.0.0'), {
      nodes: '1/1/1/2 of 5',
      reasons: { NeverPolled: 1, NotDownloaded: 1, NotReported: 1, RunsOther: 1 },
    });
  });

  it('names the version and the tag that it was published by', async () => {
    const proof = await ok(200, hawser.admin.get(proofPath('web', '1.0.0')));
    const version = await ok(200, hawser.admin.get('/api/v1/configurations/web/versions/1.0.0'));
    expect(proof).to.include({ configurationName: 'web', version: '1.0.0' });
    expect(proof.tag).to.deep.equal({
      objectId: hawser.git('configurations/web.git', 'rev-parse', 'v1.0.0').trim(),
      commit: version.commit,
      tagger: 'admin',
      taggedAt: version.publishedAt,
    });
  });

  it('lists each node by fqdn with what it runs, and with the reason', async () => {
    const rows = await eventually(async () => {
      const found = await rowsOf();
      expect(found.map(({ reason }: { reason: string }) => reason)).to.deep.equal([
        null,
        'NotReported',
        'RunsOther',
        'NeverPolled',
        'NotDownloaded',
      ]);
      return found;
    });
    const checksum = await told(node('declares'));
    const { since, ...declared } = rows[0];
    expect(declared).to.deep.equal({
      nodeId: node('declares').nodeId,
      fqdn: 'declares.example.org',
      ...{ via: 'Direct', isPinned: false },
      evidence: 'Declared',
      checksum,
      reason: null,
      outcome: 'Applied',
    });
    expect(Date.now() - Date.parse(since)).to.be.within(0, 120_000);
    expect(rows[1]).to.include({ evidence: 'Served', checksum });
    expect(rows[2]).to.include({ evidence: 'Declared', checksum: NOTHING_RUN });
    expect(rows[3]).to.include({ evidence: null, checksum: null, since: null });
    expect(rows[4]).to.include({ evidence: 'Told', checksum });
  });

  it('finds nodes by evidence and by reason in any case, and pages through them', async () => {
    expect(await namesOf('?evidence=Declared')).to.deep.equal(['declares', 'goes']);
    expect(await namesOf('?evidence=served')).to.deep.equal(['downloads']);
    expect(await namesOf('?reason=neverPolled')).to.deep.equal(['never']);
    expect(await namesOf('?evidence=Declared&reason=RunsOther')).to.deep.equal(['goes']);
    expect(await namesOf('?reason=Unresolvable')).to.deep.equal([]);
    const page = await hawser.admin.get(`${proofPath('web', '1.0.0')}/nodes?take=2&skip=1`);
    expect(page.json.map(({ fqdn }: { fqdn: string }) => fqdn)).to.deep.equal([
      'downloads.example.org',
      'goes.example.org',
    ]);
    expect(page.headers['x-total-count']).to.equal('5');
    expect(await namesOf('?outcome=applied')).to.deep.equal(['declares']);
    for (const query of ['?evidence=Guessed', '?reason=None', '?outcome=Fine', '?other=1'])
      await expectInvalid(hawser.admin.get(`${proofPath('web', '1.0.0')}/nodes${query}`));
  });

  it('sends the whole list as CSV, whatever the page', async () => {
    const path = `${proofPath('web', '1.0.0')}/nodes`;
    const csv = hawser.admin.with({ Accept: 'text/csv' });
    for (const query of ['', '?evidence=Declared']) {
      const rows = await rowsOf(query);
      const reply = await csv.get(`${path}${query || '?take=1&skip=2'}`);
      expect(reply.headers['content-type']).to.match(/^text\/csv/);
      expect(parseCsv(reply.text)).to.deep.equal([
        ['nodeId', 'fqdn', 'via', 'isPinned', 'evidence', 'checksum', 'since', 'reason', 'outcome'],
        ...rows.map(cellsOf),
      ]);
    }
    await expectProblem(csv.get(`${proofPath('web', '7.0.0')}/nodes`), 404, 'not_found');
  });

  it('knows no draft and no other version', async () => {
    await ok(201, addVersion(hawser.admin, 'web', { version: '9.0.0' }));
    for (const version of ['9.0.0', '3.0.0', 'no'])
      for (const path of [proofPath('web', version), `${proofPath('web', version)}/nodes`])
        await expectProblem(hawser.admin.get(path), 404, 'not_found');
    await ok(204, hawser.admin.delete('/api/v1/configurations/web/versions/9.0.0'));
  });

  it('holds what a poll has told before it, at once', async () => {
    await publishConfiguration(hawser.admin, 'soon', {
      '1.0.0': { [MAIN]: '$schema: x\nresources: []\n# soon\n' },
    });
    for (let count = 1; count <= 5; count += 1) {
      const next = await hawser.registerNode(`soon-${count}.example.org`);
      await assign(hawser, next, 'soon');
      const etag = `"${await told(next)}"`;
      await ok(
        304,
        next.client.get(`/api/v1/nodes/${next.nodeId}/configuration/checksum`, { 'If-None-Match': etag }),
      );
      const { nodes: counts } = await ok(200, hawser.admin.get(proofPath('soon', '1.0.0')));
      expect(counts).to.include({ offered: count, declared: count, untested: count });
      const rows = await rowsOf('?outcome=untested', proofPath('soon', '1.0.0'));
      expect(rows).to.have.length(count);
      const [use] = await ok(200, hawser.admin.get('/api/v1/fleet/configurations/soon/versions'));
      expect(use).to.include({ version: '1.0.0', declared: count });
    }
  });

  describe('after another version has been published', () => {
    before(async () => {
      await ok(201, addVersion(hawser.admin, 'web', { version: '1.1.0' }));
      await ok(200, publish(hawser.admin, 'web', '1.1.0'));
    });

    it('offers the old one to nobody, and says at once that the others have not polled since', async () => {
      expect(await readProof(hawser.admin, proofPath('web', '1.0.0'))).to.deep.equal({
        nodes: '0/0/0/0 of 0',
        reasons: {},
      });
      expect(await readProof(hawser.admin, proofPath('web', '1.1.0'))).to.deep.equal({
        nodes: '0/0/0/5 of 5',
        reasons: { NeverPolled: 1, NotPolledSince: 4 },
      });
    });

    it('tells by version what is offered, and what is run whatever is offered', async () => {
      const use = await eventually(async () => {
        const rows = await ok(200, hawser.admin.get('/api/v1/fleet/configurations/web/versions'));
        expect(rows[1]).to.deep.equal({ version: '1.0.0', ...direct(0), declared: 1, served: 1, told: 1 });
        return rows;
      });
      expect(use[0]).to.deep.equal({ version: '1.1.0', ...direct(5), declared: 0, served: 0, told: 0 });
      expect(use).to.have.length(2);
      const one = await hawser.admin.get(
        '/api/v1/fleet/configurations/web/versions?take=1&isComposite=false',
      );
      expect(one.json).to.have.length(1);
      expect(one.headers['x-total-count']).to.equal('2');
      await expectProblem(
        hawser.admin.get('/api/v1/fleet/configurations/web/versions?isComposite=true'),
        404,
        'not_found',
      );
    });

    it('counts a node for the version that it is pinned to, a withdrawn one too', async () => {
      const path = '/api/v1/configurations/web/versions/1.0.0/withdraw';
      await assign(hawser, node('declares'), 'web', { version: '1.0.0' });
      await ok(200, hawser.admin.put(path, { reason: 'for the test' }));
      await expectProof(hawser.admin, proofPath('web', '1.0.0'), { nodes: '1/0/0/0 of 1', reasons: {} });
      await expectProof(hawser.admin, proofPath('web', '1.1.0'), {
        nodes: '0/0/0/4 of 4',
        reasons: { NeverPolled: 1, NotPolledSince: 3 },
      });
      await ok(204, hawser.admin.delete(path));
      await assign(hawser, node('declares'), 'web');
    });

    it('follows a node to the new version', async () => {
      const checksum = await ran(node('declares'));
      await expectProof(hawser.admin, proofPath('web', '1.1.0'), {
        nodes: '1/0/0/4 of 5',
        reasons: { NeverPolled: 1, NotPolledSince: 3 },
      });
      expect((await rowsOf('?evidence=Declared', proofPath('web', '1.1.0')))[0]).to.include({ checksum });
    });
  });

  describe('of nodes that get an error or nothing', () => {
    it('shows them beside, as Unresolvable, at every version', async () => {
      await assign(hawser, node('unassigned'), 'web', { prereleaseChannel: 'rc', majorVersion: 1 });
      await ok(201, addVersion(hawser.admin, 'web', { version: '2.0.0' }));
      await ok(200, publish(hawser.admin, 'web', '2.0.0'));
      await assign(hawser, node('never'), 'web', { majorVersion: 2 });
      await ok(200, hawser.admin.put('/api/v1/configurations/web/versions/2.0.0/withdraw', { reason: 'x' }));
      const unresolvable = async (version: string) =>
        namesOf('?reason=Unresolvable', proofPath('web', version));
      for (const version of ['1.0.0', '1.1.0', '2.0.0']) {
        expect(await unresolvable(version)).to.deep.equal(['never']);
        const { reasons } = await readProof(hawser.admin, proofPath('web', version));
        expect(reasons['Unresolvable']).to.equal(1);
      }
      const { nodes: counted } = await readProof(hawser.admin, proofPath('web', '2.0.0'));
      expect(counted).to.equal('0/0/0/0 of 0');
    });
  });

  describe('of a composite', () => {
    const path = proofPath('site', '1.0.0', 'composite-configurations');

    before(async () => {
      await saveParameters(hawser, { configuration: 'other', content: 'parameters: {port: 1}' });
      await publishWithChildren(hawser.admin, 'site', '1.0.0', ['other']);
      for (const name of ['polls', 'downloads'])
        await assign(hawser, node(name), 'site', { isComposite: true });
      await ran(node('downloads'));
    });

    it('counts its nodes in the same way, and its manifest names the children', async () => {
      await expectProof(hawser.admin, path, {
        nodes: '1/0/0/1 of 2',
        reasons: { NotPolledSince: 1 },
      });
      expect(await namesOf('?reason=NotPolledSince', path)).to.deep.equal(['polls']);
      const [row] = await rowsOf('?evidence=Declared', path);
      const manifest = await ok(200, hawser.admin.get(manifestPath(row.checksum)));
      expect(manifest).to.include({ configurationName: 'site', isComposite: true, version: '1.0.0' });
      expect(
        manifest.parts.map((part: { configurationName: string }) => part.configurationName),
      ).to.deep.equal(['other']);
      expect(manifest.parts[0].parameters).to.have.length(1);
    });

    it('is told by version as those of configurations are', async () => {
      const use = await ok(
        200,
        hawser.admin.get('/api/v1/fleet/configurations/site/versions?isComposite=TRUE'),
      );
      expect(use).to.deep.equal([{ version: '1.0.0', ...direct(2), declared: 1, served: 0, told: 0 }]);
    });

    it('follows the parameters of a child, whose change makes another checksum', async () => {
      const content = 'parameters: {port: 2}';
      await saveParameters(hawser, { configuration: 'other', version: '1.1.0', content });
      await expectProof(hawser.admin, path, { nodes: '0/0/0/2 of 2', reasons: { NotPolledSince: 2 } });
    });
  });
});
