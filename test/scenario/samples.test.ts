// full: SQLite
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { PROJECT } from '../../scripts/support/project.ts';
import { type Finding, printFinding } from '../../src/domain/findings.ts';
import { addVersion, create, fileOf, MAIN, publish } from '../support/configurations.ts';
import { type NodeUnderTest, startHawser } from '../support/hawser.ts';
import { ok } from '../support/replies.ts';
import { started } from '../support/started.ts';
import { type UnzippedEntry, unzip } from '../support/unzip.ts';
import { makeZip } from '../support/zip.ts';

const filesOf = (entries: UnzippedEntry[]) => new Map(entries.map(({ path, content }) => [path, content]));

/** Documents of the DSC project, where the folder stands beside this one. */
const SHARED = join(PROJECT, '../shared/samples/dsc');
const OWN = join(PROJECT, 'test/fixtures/dsc');
/** What is found in each of them, for a person to review. UPDATE_GOLDEN=1 writes it. */
const GOLDEN = join(PROJECT, 'test/golden/findings.json');

type Document = [name: string, content: Buffer];

function documentsIn(folder: string): Document[] {
  if (!existsSync(folder)) return [];
  const names = readdirSync(folder).filter((name) => /\.(ya?ml|json)$/.test(name));
  return names.sort().map((name) => [name, readFileSync(join(folder, name))]);
}

describe('real documents come back byte for byte', () => {
  const hawser = started(startHawser);
  let node: NodeUnderTest;
  const documents = [...documentsIn(OWN), ...documentsIn(SHARED)];
  const all = Object.fromEntries(documents.map(([name, content]) => [`documents/${name}`, content]));

  before(async () => {
    node = await hawser.registerNode('samples.example.org');
    // They declare parameters that have nothing to do with each other, which versions of one set could not.
    await ok(201, create(hawser.admin, 'samples', { useServerManagedParameters: 'false' }));
    await ok(200, publish(hawser.admin, 'samples', '1.0.0'));
    const assignment = { configurationName: 'samples' };
    await ok(204, hawser.admin.put(`/api/v1/nodes/${node.nodeId}/configuration`, assignment));
  });

  const pull = (what = '') => node.client.get(`/api/v1/nodes/${node.nodeId}/configuration${what}`);

  /** By file download, from the bundle, and out of the repository by stock git. */
  const expectEverywhere = async (version: string, files: Record<string, Buffer>) => {
    expect((await pull('/checksum')).json.version).to.equal(version);
    const bundle = filesOf(await unzip((await pull('/bundle')).bytes));
    expect([...bundle.keys()].sort()).to.deep.equal(Object.keys(files).sort());
    for (const [path, content] of Object.entries(files)) {
      const same = (other: Buffer | undefined, where: string) =>
        expect(other?.equals(content), `${path} ${where}`).to.equal(true);
      same((await hawser.admin.get(fileOf('samples', version, path))).bytes, 'downloaded');
      same(bundle.get(path), 'in the bundle');
      same(gitShow(`v${version}:${path}`), 'by git show');
    }
  };

  const gitShow = (what: string) =>
    execFileSync('git', ['-C', hawser.folderOf('configurations/samples.git'), 'show', what]);

  it('there are some', () => {
    expect(documentsIn(OWN).length).to.be.greaterThan(5);
    expect(documents.some(([, content]) => content.includes('\r\n'))).to.equal(true);
  });

  it('each as the entry point of a version of its own', async () => {
    for (const [name, content] of documents) {
      const files = { [name]: content };
      const { version } = await ok(201, addVersion(hawser.admin, 'samples', { entryPoint: name }, { files }));
      await ok(200, publish(hawser.admin, 'samples', version));
      const entry = await pull();
      expect(entry.bytes.equals(content), name).to.equal(true);
      expect(entry.headers['content-type']).to.equal(
        name.endsWith('.json') ? 'application/json' : 'application/yaml',
      );
      const bundle = filesOf(await unzip((await pull('/bundle')).bytes));
      expect(bundle.get(name)?.equals(content), name).to.equal(true);
    }
  });

  it('each with what is found in it, as the golden file says', async () => {
    const found: Record<string, string[]> = {};
    for (const [name, content] of documents) {
      const files = { [name]: content };
      const form = { fields: { entryPoint: name }, files };
      const { findings } = await ok(200, hawser.admin.upload('/api/v1/configurations/samples/check', form));
      found[name] = findings.map((each: Finding) => `${each.severity}: ${printFinding(each)}`);
    }
    const known = JSON.parse(existsSync(GOLDEN) ? readFileSync(GOLDEN, 'utf8') : '{}');
    // Without the documents beside this folder the entries of the others are compared.
    if (process.env['UPDATE_GOLDEN'])
      writeFileSync(GOLDEN, `${JSON.stringify({ ...known, ...found }, null, 2)}\n`);
    else for (const [name, lines] of Object.entries(found)) expect(lines, name).to.deep.equal(known[name]);
  });

  it('all in one version, sent as files', async () => {
    const files = { [MAIN]: Buffer.from('$schema: x\nresources: []\n'), ...all };
    await ok(201, addVersion(hawser.admin, 'samples', { version: '2.0.0', entryPoint: MAIN }, { files }));
    await ok(200, publish(hawser.admin, 'samples', '2.0.0'));
    await expectEverywhere('2.0.0', files);
  });

  it('all in one version, sent as an archive; the node sees that only the version differs', async () => {
    const files = { [MAIN]: Buffer.from('$schema: x\nresources: []\n'), ...all };
    const archive = makeZip(Object.entries(files).map(([name, content]) => ({ name, content })));
    const before = await pull('/bundle');
    const { version } = await ok(201, addVersion(hawser.admin, 'samples', {}, { archive }));
    await ok(200, publish(hawser.admin, 'samples', version));
    expect((await pull('/checksum')).json.version).to.equal('2.0.1');
    const after = await pull('/bundle');
    expect(after.bytes.equals(before.bytes)).to.equal(true);
    expect(after.headers['etag']).to.not.equal(before.headers['etag']);
  });
});
