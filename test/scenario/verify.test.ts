// full: SQLite, PostgreSQL
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { secretKey } from '../../src/lib/sealed-text.ts';
import { publishWithChildren } from '../support/composites.ts';
import { MAIN } from '../support/configurations.ts';
import { changeRows, copySite } from '../support/database.ts';
import { describeOnSqlite, itOnSqlite, placeOf } from '../support/engine.ts';
import { eventually } from '../support/eventually.ts';
import { git, type NodeUnderTest, publishConfiguration, startHawser } from '../support/hawser.ts';
import { assign, poll, saveParameters } from '../support/parameter-files.ts';
import { manifestPath, pulled, reported, told } from '../support/proof.ts';
import { ok } from '../support/replies.ts';
import { createScopeType, createScopeValue, tagNode } from '../support/scopes.ts';
import { runHawser } from '../support/spawned.ts';
import { started } from '../support/started.ts';

const WEB = 'configurations/web';
const PARAMETERS = 'parameters/web';
const SECRET = 'hunter2-of-the-database';
const ENTRY = `$schema: x
parameters:
  port: {type: int}
  password: {type: secureString}
resources: []
`;

/** From the published tag to what a node reports: each link can be checked by itself. */
describe('the chain of proof', () => {
  const hawser = started(startHawser);
  let node: NodeUnderTest;
  let other: NodeUnderTest;
  let checksum: string;
  let digest: string;
  let composite: string;

  before(async () => {
    await publishConfiguration(hawser.admin, 'web', { '1.0.0': { [MAIN]: ENTRY, 'etc/motd': 'hello\n' } });
    const siteId = await createScopeType(hawser, 'Site');
    const berlinId = await createScopeValue(hawser, siteId, 'berlin');
    const paris = await createScopeValue(hawser, siteId, 'paris');
    await saveParameters(hawser, {
      configuration: 'web',
      content: `parameters: {port: 80, password: ${SECRET}}`,
    });
    const content = 'parameters: {port: 81}';
    await saveParameters(hawser, { configuration: 'web', scopeType: 'Site', value: 'berlin', content });
    await saveParameters(hawser, { configuration: 'web', scopeType: 'Site', value: 'paris', content: null });
    node = await hawser.registerNode('web-01.example.org');
    other = await hawser.registerNode('web-02.example.org');
    await tagNode(hawser, node.nodeId, berlinId);
    await tagNode(hawser, other.nodeId, paris);
    await assign(hawser, node, 'web');
    await publishConfiguration(hawser.admin, 'base', { '1.0.0': { [MAIN]: '$schema: x\nresources: []\n' } });
    await publishWithChildren(hawser.admin, 'site', '1.0.0', [
      'web',
      { name: 'base', activeVersion: '1.0.0' },
    ]);
    await assign(hawser, other, 'site', { isComposite: true });
    composite = (await pulled(other)).checksum;
    ({ checksum, digest } = await pulled(node));
    await reported(node, checksum);
    await eventually(async () => expect((await manifestOf(checksum)).firstServedAt).to.not.equal(null));
    await eventually(async () => expect((await manifestOf(composite)).firstServedAt).to.not.equal(null));
  });

  const manifestOf = (sum: string) => ok(200, hawser.admin.get(manifestPath(sum)));
  const revision = (repository: string, name: string) =>
    hawser.git(`${repository}.git`, 'rev-parse', name).trim();
  const verify = (sum: string, folder = hawser.folder) => runHawser(folder, {}, ['verify', sum]);

  it('leads from what the node runs to the tag, the parameter files and the bundle', async () => {
    const { running } = await ok(200, hawser.admin.get(`/api/v1/nodes/${node.nodeId}`));
    expect(running).to.include({
      checksum,
      configurationName: 'web',
      version: '1.0.0',
      evidence: 'Declared',
    });
    const manifest = await manifestOf(checksum.toUpperCase());
    const version = await ok(200, hawser.admin.get('/api/v1/configurations/web/versions/1.0.0'));
    const tag = {
      objectId: revision(WEB, 'v1.0.0'),
      commit: revision(WEB, 'v1.0.0^{commit}'),
      tagger: 'admin',
      taggedAt: version.publishedAt,
    };
    const { firstServedAt, parts, ...rest } = manifest;
    expect(rest).to.deep.equal({
      checksum,
      configurationName: 'web',
      isComposite: false,
      version: '1.0.0',
      tag,
      entryPoint: MAIN,
      // The bundle holds a secret, and a digest of it would let a guess be tried.
      bundleDigest: null,
    });
    expect(Date.now() - Date.parse(firstServedAt)).to.be.within(0, 120_000);
    expect(parts).to.have.length(1);
    const { parameters, ...part } = parts[0];
    expect(part).to.deep.equal({
      ...{ configurationName: 'web', version: '1.0.0', tag },
      ...{ mergeVersion: 1, variables: {} },
    });
    const files = await ok(200, hawser.admin.get('/api/v1/configurations/web/parameter-files'));
    const sumOf = (value: string | null) =>
      files.find((file: { scopeValue: string | null }) => file.scopeValue === value).checksum;
    expect(parameters).to.deep.equal([
      {
        scopeTypeName: 'Default',
        scopeValue: null,
        version: '1.0.0',
        tagObjectId: revision(PARAMETERS, 'Default/v1.0.0'),
        checksum: sumOf(null),
      },
      {
        scopeTypeName: 'Site',
        scopeValue: 'berlin',
        version: '1.0.0',
        tagObjectId: revision(PARAMETERS, 'Site/berlin/v1.0.0'),
        checksum: sumOf('berlin'),
      },
    ]);
  });

  it('leaves a scope out that is skipped on purpose, and tells the children of a composite in order', async () => {
    const { parts, ...manifest } = await manifestOf(composite);
    expect(manifest.tag.objectId).to.equal(revision('composites/site', 'v1.0.0'));
    expect(manifest).to.include({ configurationName: 'site', isComposite: true });
    const scopes = ({ parameters }: { parameters: { scopeTypeName: string }[] }) =>
      parameters.map(({ scopeTypeName }) => scopeTypeName);
    expect(parts.map((part: { configurationName: string }) => part.configurationName)).to.deep.equal([
      'web',
      'base',
    ]);
    expect(scopes(parts[0])).to.deep.equal(['Default']);
    expect(scopes(parts[1])).to.deep.equal([]);
  });

  it('gives the digest of a bundle that nobody was served yet', async () => {
    const fresh = await hawser.registerNode('web-03.example.org');
    await assign(hawser, fresh, 'base');
    const sum = await told(fresh);
    const manifest = await eventually(() => manifestOf(sum));
    expect(manifest.firstServedAt).to.equal(null);
    expect(manifest.bundleDigest).to.equal((await pulled(fresh)).digest);
    await eventually(async () => expect((await manifestOf(sum)).firstServedAt).to.be.a('string'));
    expect((await verify(sum)).stdout).to.equal('match\n');
    await ok(204, hawser.admin.delete(`/api/v1/nodes/${fresh.nodeId}`));
    // What it ran is known for longer than the node.
    expect((await verify(sum)).stdout).to.equal('match\n');
    const nobodys = 'f'.repeat(64);
    const { code, stdout, stderr } = await verify(nobodys);
    expect(`${code} ${stdout}`).to.equal('1 ');
    expect(stderr).to.equal(
      `hawser: no manifest of ${nobodys} is kept: no node, no report and nothing that ran names it\n`,
    );
  });

  it('says match beside the running server, of a configuration and of a composite', async () => {
    for (const sum of [checksum, checksum.toUpperCase(), composite])
      expect(await verify(sum)).to.deep.equal({ code: 0, stdout: 'match\n', stderr: '' });
    expect((await ok(200, poll(node))).checksum).to.equal(checksum);
  });

  it('says in a sentence that a text is no checksum', async () => {
    for (const text of ['web', checksum.slice(1), `${checksum}0`, '../x']) {
      const { code, stdout, stderr } = await verify(text);
      expect(`${code} ${stdout}`).to.equal('1 ');
      expect(stderr).to.equal('hawser: a checksum has 64 hexadecimal digits\n');
    }
    expect((await runHawser(hawser.folder, {}, ['verify'])).code).to.equal(64);
  });

  describeOnSqlite('where repositories are folders', () => {
    describe('when something has been changed', () => {
      /** A copy of the world after the server has ended, which each test may damage. */
      let folder: string;
      before(() => hawser.server.close());
      after(() => hawser.restart());
      beforeEach(async () => {
        folder = mkdtempSync(join(tmpdir(), 'hawser-verify-'));
        await copySite(hawser.folder, folder);
      });
      afterEach(() => rmSync(folder, { recursive: true, force: true }));

      const pathOf = (repository: string) => join(folder, 'repos', `${repository}.git`);
      const inside = (repository: string, ...args: string[]) => git(pathOf(repository), ...args).trim();
      const objectFile = (repository: string, oid: string) =>
        join(pathOf(repository), 'objects', oid.slice(0, 2), oid.slice(2));
      const AS_OTHER = ['-c', 'user.name=mallory', '-c', 'user.email=mallory@example.org'];
      const retag = (repository: string, tag: string, target: string): string => {
        inside(repository, ...AS_OTHER, 'tag', '-f', '-a', '-m', 'moved', tag, target);
        return inside(repository, 'rev-parse', tag);
      };
      /** @returns the lines that were printed, once the exit code is 1 and nothing secret is told */
      const differences = async (sum = checksum): Promise<string[]> => {
        const { code, stdout, stderr } = await verify(sum, folder);
        expect(`${code} ${stderr}`).to.equal('1 ');
        expect(stdout).to.not.include(SECRET);
        return stdout.trimEnd().split('\n');
      };

      it('says match of what nobody has changed, and takes no note of a server that is gone', async () => {
        expect((await verify(checksum, folder)).stdout).to.equal('match\n');
      });

      it('names the tag that was moved, of the configuration and of a child alike', async () => {
        const before = inside(WEB, 'rev-parse', 'v1.0.0');
        const after = retag(WEB, 'v1.0.0', 'v1.0.0^{commit}');
        const told = [`${WEB} v1.0.0: the tag points to ${after}, and pointed to ${before}`];
        expect(await differences()).to.deep.equal(told);
        expect(await differences(composite)).to.deep.equal(told);
      });

      it('names the tag of parameters that was moved, and the one that was deleted', async () => {
        const before = inside(PARAMETERS, 'rev-parse', 'Site/berlin/v1.0.0');
        const after = retag(PARAMETERS, 'Site/berlin/v1.0.0', 'Default/v1.0.0^{commit}');
        inside(PARAMETERS, 'tag', '-d', 'Default/v1.0.0');
        expect(await differences()).to.deep.equal([
          `${PARAMETERS} Default/v1.0.0: the tag is not there any more`,
          `${PARAMETERS} Site/berlin/v1.0.0: the tag points to ${after}, and pointed to ${before}`,
        ]);
      });

      it('names the path of a file whose object is gone, and of one whose bytes are others', async () => {
        rmSync(objectFile(WEB, inside(WEB, 'rev-parse', 'v1.0.0:etc/motd')));
        const main = objectFile(WEB, inside(WEB, 'rev-parse', `v1.0.0:${MAIN}`));
        const motd = `${WEB} v1.0.0 etc/motd: it cannot be read: an object is missing or broken`;
        expect(await differences()).to.deep.equal([motd]);
        rmSync(main);
        cpSync(objectFile(WEB, inside(WEB, 'rev-parse', 'v1.0.0^{commit}')), main);
        expect(await differences()).to.deep.equal([
          motd,
          `${WEB} v1.0.0 ${MAIN}: it cannot be read: an object is missing or broken`,
        ]);
      });

      it('names the file of parameters whose object is gone', async () => {
        const blob = inside(PARAMETERS, 'rev-parse', 'Site/berlin/v1.0.0:berlin/parameters.yaml');
        rmSync(objectFile(PARAMETERS, blob));
        expect(await differences()).to.deep.equal([
          `${PARAMETERS} Site/berlin/v1.0.0: it cannot be read: an object is missing or broken`,
        ]);
      });

      it('reads what stock git has packed', async () => {
        inside(WEB, 'gc', '--quiet');
        expect((await verify(checksum, folder)).stdout).to.equal('match\n');
      });

      it('names a repository that is gone', async () => {
        rmSync(pathOf(PARAMETERS), { recursive: true });
        const lines = await differences();
        expect(lines[0]).to.equal(`${PARAMETERS} Default/v1.0.0: the repository is not there any more`);
      });

      it('compares what is kept of the tag, the parameters and the bundle', async () => {
        const place = await placeOf(join(folder, 'data'));
        await changeRows(place, `update manifests set bundle_digest = 'AAAA' where checksum = '${checksum}'`);
        expect(await differences()).to.deep.equal([
          `${WEB} v1.0.0: the digest of the bundle is ${digest}, and was AAAA`,
        ]);
        await changeRows(
          place,
          `update manifests set content = replace(content, '"tagger":"admin"', '"tagger":"root"')`,
        );
        expect((await differences())[0]).to.match(
          /web v1\.0\.0: the tag is by admin at .+, and was by root at /,
        );
      });

      it('says which commit the composite was made of, and what it lacks', async () => {
        const site = 'composites/site';
        rmSync(objectFile(site, inside(site, 'rev-parse', 'v1.0.0:composite.json')));
        expect(await differences(composite)).to.deep.equal([
          `${site} v1.0.0 composite.json: it cannot be read: an object is missing or broken`,
        ]);
        expect((await verify(checksum, folder)).stdout).to.equal('match\n');
      });

      it('names the key of secrets that is missing, and says match again with it', async () => {
        const file = join(folder, 'data/secrets.key');
        const [id] = readFileSync(file, 'utf8')
          .trimEnd()
          .split('\n')
          .map((line) => secretKey(Buffer.from(line, 'base64')).id);
        cpSync(file, `${file}.away`);
        rmSync(file);
        const { code, stdout, stderr } = await verify(checksum, folder);
        expect(code).to.equal(1);
        expect(stdout + stderr).to.include(`The key ${id} of secrets is needed`);
        expect(stdout + stderr).to.not.include(SECRET);
        expect(stdout).to.not.include('match');
        cpSync(`${file}.away`, file);
        expect((await verify(checksum, folder)).stdout).to.equal('match\n');
      });

      itOnSqlite('ends with a sentence where there is no database', async () => {
        rmSync(join(folder, 'data'), { recursive: true });
        writeFileSync(join(folder, 'data'), '');
        const { code, stderr } = await verify(checksum, folder);
        expect(code).to.equal(1);
        expect(stderr).to.match(/^hawser: HAWSER_DATA_DIR: there is no database in .+\n$/);
      });
    });
  });
});
