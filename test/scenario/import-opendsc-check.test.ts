// full: SQLite
/** `hawser import-opendsc --check`: node by node, what OpenDSC served and what this server serves. */

import { rmSync } from 'node:fs';
import { expect } from 'chai';
import { MAIN, release } from '../support/configurations.ts';
import { type Hawser, startHawser } from '../support/hawser.ts';
import { checkMove, importInto, sourceWords, type Written, write } from '../support/opendsc/moving.ts';
import { OpenDscSite } from '../support/opendsc/site.ts';
import { runHawser } from '../support/spawned.ts';

describe('import-opendsc --check', () => {
  let hawser: Hawser;
  let written: Written;

  beforeEach(async () => {
    hawser = await startHawser();
  });
  afterEach(async () => {
    await hawser.close();
    rmSync(written.files, { recursive: true, force: true });
  });

  const check = () => checkMove(hawser, written);

  async function move(site: OpenDscSite): Promise<number | null> {
    written = await write(site);
    return (await importInto(hawser, written, {})).code;
  }

  it('finds a composite with its children, prereleases, passthroughs and quotes as they were served there', async () => {
    const site = new OpenDscSite();
    const web = site.configuration({ name: 'web' });
    for (const version of ['1.0.0', '2.0.0', '2.1.0-rc.1'])
      site.version(web, { version, files: { [MAIN]: `# ${version}\n` } });
    site.version(web, { version: '3.0.0', status: 'Draft' });
    const base = site.configuration({ name: 'base', columns: { UseServerManagedParameters: false } });
    site.version(base, {
      version: '1.0.0',
      files: { [MAIN]: '# base\n', 'parameters.yaml': 'parameters: {own: 1}\n' },
    });
    const farm = site.composite({ name: 'farm' });
    site.compositeVersion(farm, {}, { configuration: web, version: '1.0.0' }, { configuration: base });
    site.parameters({ configuration: web, text: 'parameters: {port: 80}\n' });
    site.parameters({ configuration: web, version: '1.1.0', isPassthrough: true });
    const own = { configuration: web, scopeType: site.nodeScope };
    site.parameters({ ...own, value: 'rc.example.org', text: '{"parameters": {"b": [1.0, "x"]}}' });
    site.node({ fqdn: 'farm.example.org', assignment: { composite: farm } });
    site.node({ fqdn: 'rc.example.org', assignment: { configuration: web, prereleaseChannel: 'rc' } });
    site.node({ fqdn: 'one.example.org', assignment: { configuration: web, majorVersion: 1 } });
    site.node({ fqdn: 'none.example.org' });
    expect(await move(site)).to.equal(0);
    expect((await check()).report).to.deep.equal({ compared: 4, differences: [] });
    await release(hawser.admin, 'base', '1.1.0', { files: { [MAIN]: '# other\n' } });
    const { report } = await check();
    expect(new Set(report.differences.map(({ fqdn }) => fqdn))).to.deep.equal(new Set(['farm.example.org']));
    expect(report.differences.map(({ path }) => path).sort()).to.deep.equal([
      `base/${MAIN}`,
      'base/parameters.yaml',
    ]);
  });

  it('says so where there is nothing to compare with', async () => {
    written = await write(new OpenDscSite());
    const words = ['import-opendsc', ...sourceWords(written), '--check'];
    const { code, stderr } = await runHawser(`${hawser.folder}/none`, { HAWSER_DATABASE_URL: '' }, words);
    expect(code).to.equal(1);
    expect(stderr).to.match(/^hawser: .*there is no database/);
  });
});
