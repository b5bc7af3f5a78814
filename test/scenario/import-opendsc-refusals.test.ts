// full: SQLite
/** What `hawser import-opendsc` leaves out, what it finds in conflict, and what it refuses as a whole. */

import { appendFileSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect } from 'chai';
import { CONFIGURATIONS, MAIN } from '../support/configurations.ts';
import { changeRows } from '../support/database.ts';
import { describeOnSqlite } from '../support/engine.ts';
import { startHawser } from '../support/hawser.ts';
import { countsOf, kindOf, Moving, sourceWords, write } from '../support/opendsc/moving.ts';
import { OpenDscSite } from '../support/opendsc/site.ts';
import { ok } from '../support/replies.ts';
import { runHawser, spawnHawser } from '../support/spawned.ts';

describe('an import from OpenDSC', () => {
  const moving = new Moving();

  describe('leaves out', () => {
    it('a name that is none here, with all that hangs on it', async () => {
      const long = moving.site.configuration({ name: 'x'.repeat(200) });
      moving.site.version(long);
      moving.site.parameters({ configuration: long });
      const farm = moving.site.composite({ name: 'farm' });
      moving.site.compositeVersion(farm, {}, { configuration: long });
      moving.site.node({ fqdn: 'a.example.org', assignment: { configuration: long } });
      const { leftOut, code } = await moving.move();
      expect(code).to.equal(2);
      expect(leftOut('configurations')[0]?.reason).to.match(/^name: Not a name: letters, digits/);
      const reason = `Its configuration ${long.name} is left out`;
      for (const kind of ['versions', 'parameter files', 'composite versions', 'assignments'] as const)
        expect(
          leftOut(kind).map((each) => each.reason),
          kind,
        ).to.deep.equal([reason]);
    });

    it('versions that are no SemVer, or that break a rule of uploads', async () => {
      const web = moving.site.configuration({ name: 'web' });
      moving.site.version(web, { version: '1.0.0' });
      moving.site.version(web, { version: 'spring' });
      moving.site.version(web, { version: '1.1.0', files: { [MAIN]: 'a', 'A/x': '1', 'a/X': '2' } });
      moving.site.version(web, { version: '1.2.0', entryPoint: 'other.yaml' });
      moving.site.version(web, { version: '1.3.0', files: { [MAIN]: 'a', 'parameters.yaml': '2' } });
      moving.site.version(web, { version: '1.0.0+build' });
      const { leftOut, report } = await moving.move();
      expect(countsOf(report, 'versions')).to.deep.equal([6, 1, 0, 0, 5]);
      const reasons = new Map(leftOut('versions').map(({ name, reason }) => [name, reason]));
      expect(reasons.get('web spring')).to.include('Not a SemVer 2.0 version');
      expect(reasons.get('web 1.1.0')).to.include('a/X');
      expect(reasons.get('web 1.2.0')).to.include('No file other.yaml');
      expect(reasons.get('web 1.3.0')).to.include('parameters.yaml is where the merged parameters go');
      expect(reasons.get('web 1.0.0+build')).to.equal('Version 1.0.0 exists already');
    });

    it('one parameter file alone whose secret stands behind an alias, and says where', async () => {
      const web = moving.site.configuration({ name: 'web' });
      const main =
        '$schema: x\nparameters: {pw: {type: secureString}, other: {type: string}}\nresources: []\n';
      moving.site.version(web, { version: '1.0.0', files: { [MAIN]: main } });
      const texts = {
        '1.0.0': 'parameters: {other: &all open, pw: *all}\n',
        '1.1.0': 'parameters: {other: open, pw: &kept Canary-in-an-anchor}\n',
        '1.2.0': 'parameters: {other: &free open, pw: Canary-of-an-import}\n',
      };
      for (const [version, text] of Object.entries(texts))
        moving.site.parameters({ configuration: web, version, text });
      const { leftOut, report, code } = await moving.move();
      expect(code).to.equal(2);
      expect(countsOf(report, 'parameter files')).to.deep.equal([3, 1, 0, 0, 2]);
      for (const [at, { name, reason }] of leftOut('parameter files').entries()) {
        expect(name).to.equal(`web Default 1.${at}.0`);
        expect(reason).to.match(/^\/parameters\/pw: A secret takes no anchor, alias or merge key/);
        expect(reason).to.match(
          /Save the file here without that, or mend it there and run the import again$/,
        );
        expect(reason).to.not.include('Canary');
      }
      const again = await moving.move();
      expect(countsOf(again.report, 'parameter files')).to.deep.equal([3, 0, 1, 0, 2]);
    });

    it('versions and parameter files whose files are missing or altered', async () => {
      const web = moving.site.configuration({ name: 'web' });
      for (const version of ['1.0.0', '1.1.0', '1.2.0']) moving.site.version(web, { version });
      moving.site.parameters({ configuration: web, text: 'parameters: {a: 1}\n' });
      moving.site.parameters({ configuration: web, version: '1.1.0', text: 'parameters: {a: 1\n' });
      moving.site.parameters({ configuration: web, version: '1.2.0', text: 'parameters: {a: 1}\n' });
      const { leftOut } = await moving.move({
        spoil(files) {
          rmSync(join(files, 'configurations/web/v1.1.0', MAIN));
          appendFileSync(join(files, 'configurations/web/v1.2.0', MAIN), '# more');
          appendFileSync(join(files, 'parameters/web/Default/v1.2.0/parameters.yaml'), '# more');
        },
      });
      expect(leftOut('versions')).to.deep.equal([
        { name: 'web 1.1.0', reason: `Its file ${MAIN} is missing` },
        { name: 'web 1.2.0', reason: `Its file ${MAIN} has another checksum than the database says` },
      ]);
      const [unreadable, altered] = leftOut('parameter files');
      expect(unreadable?.name).to.equal('web Default 1.1.0');
      expect(unreadable?.reason).to.match(/^Line \d+, column \d+: /);
      expect(altered?.reason).to.equal(
        'Its file parameters.yaml has another checksum than the database says',
      );
    });

    it('composites that were published with drafts, and assignments that would give nothing', async () => {
      const web = moving.site.configuration({ name: 'web' });
      moving.site.version(web, { status: 'Draft' });
      const farm = moving.site.composite({ name: 'farm' });
      moving.site.compositeVersion(farm, {}, { configuration: web });
      moving.site.node({ fqdn: 'a.example.org', assignment: { composite: farm } });
      moving.site.node({ fqdn: 'b.example.org', assignment: { configuration: web } });
      const { leftOut } = await moving.move();
      expect(leftOut('composite versions')[0]?.reason).to.equal(
        'The child web has no published version that is offered',
      );
      expect(leftOut('assignments').map(({ reason }) => reason)).to.have.members([
        'No published version of the composite farm fits this assignment; left out: farm 1.0.0',
        'No published version of the configuration fits this assignment',
      ]);
    });

    it('the later of two names that count as one here', async () => {
      moving.site.configuration({ name: 'web' });
      moving.site.configuration({ name: 'WEB' });
      moving.site.node({ fqdn: 'a.example.org' });
      moving.site.node({ fqdn: 'A.example.org' });
      const { leftOut, report } = await moving.move();
      for (const kind of ['configurations', 'nodes'] as const) {
        expect(countsOf(report, kind), kind).to.deep.equal([2, 1, 0, 0, 1]);
        expect(leftOut(kind)[0]?.reason).to.equal('Another one that counts as the same comes before it');
      }
    });

    it('what is skipped, and what hangs on it', async () => {
      const web = moving.site.configuration({ name: 'web' });
      moving.site.version(web);
      moving.site.node({ fqdn: 'a.example.org', assignment: { configuration: web } });
      const { report, leftOut } = await moving.move({ words: ['--skip', 'nodes, users'] });
      expect(report.kinds.map(({ kind }) => kind)).to.not.include.members(['nodes', 'users']);
      expect(leftOut('assignments')[0]?.reason).to.equal('Its node a.example.org is left out');
      expect(await ok(200, moving.hawser.admin.get('/api/v1/nodes'))).to.deep.equal([]);
    });
  });

  describe('finds in conflict, and leaves as it is,', () => {
    it('what is here and another one', async () => {
      await ok(201, addVersionOf('web', '1.0.0', 'ours\n'));
      const web = moving.site.configuration({ name: 'web' });
      moving.site.version(web, { files: { [MAIN]: 'theirs\n' } });
      moving.site.version(web, { version: '1.1.0', files: { [MAIN]: 'theirs\n' } });
      const author = moving.site.role({ name: 'Author', permissions: ['nodes.read'] });
      moving.site.member({ user: moving.site.user({ username: 'alice' }), role: author });
      const { report, code } = await moving.move();
      expect(code).to.equal(2);
      expect(countsOf(report, 'configurations')).to.deep.equal([1, 0, 1, 0, 0]);
      expect(kindOf(report, 'versions').conflicts).to.deep.equal([
        { name: 'web 1.0.0', reason: `Its file ${MAIN} is another one here` },
      ]);
      expect(countsOf(report, 'versions')).to.deep.equal([2, 1, 0, 1, 0]);
      expect(kindOf(report, 'roles').conflicts[0]?.reason).to.equal(
        'Every server has a role of this name, and it is another one',
      );
      expect(kindOf(report, 'memberships').leftOut).to.deep.equal([
        { name: 'alice has the role Author', reason: 'Its role Author is in conflict' },
      ]);
      const { text } = await moving.hawser.admin.get(`${CONFIGURATIONS}/web/versions/1.0.0/files/${MAIN}`);
      expect(text).to.equal('ours\n');
    });

    it('a description alone, and brings versions and assignments', async () => {
      await ok(201, addVersionOf('web', '1.0.0', 'ours\n'));
      await ok(201, addVersionOf('db', '1.0.0', 'ours\n'));
      const web = moving.site.configuration({ name: 'web', columns: { Description: 'theirs' } });
      const more = { Description: 'theirs', UseServerManagedParameters: false };
      const db = moving.site.configuration({ name: 'db', columns: more });
      moving.site.version(web, { version: '1.1.0' });
      moving.site.version(db, { version: '1.1.0' });
      moving.site.node({ fqdn: 'a.example.org', assignment: { configuration: web } });
      const { report } = await moving.move();
      expect(countsOf(report, 'configurations')).to.deep.equal([2, 0, 0, 2, 0]);
      const [conflict, another] = kindOf(report, 'configurations').conflicts;
      expect(conflict?.reason).to.match(/^Its description is .* here and "theirs" there$/);
      expect(another?.reason).to.match(/^Its useServerManagedParameters is true here and false there$/);
      expect(countsOf(report, 'versions')).to.deep.equal([2, 1, 0, 0, 1]);
      expect(countsOf(report, 'assignments')).to.deep.equal([1, 1, 0, 0, 0]);
    });

    it('settings that were changed here', async () => {
      await ok(200, moving.hawser.admin.put('/api/v1/settings', { stalenessMultiplier: 5 }));
      moving.site.settings('ServerSettings', { StalenessMultiplier: 3 });
      const { report } = await moving.move();
      expect(kindOf(report, 'settings').conflicts).to.deep.equal([
        { name: 'stalenessMultiplier', reason: 'Its value is 5 here and 3 there' },
      ]);
      expect(await ok(200, moving.hawser.admin.get('/api/v1/settings'))).to.include({
        stalenessMultiplier: 5,
      });
    });

    it('a node that is registered here', async () => {
      const { nodeId, fqdn } = await moving.hawser.registerNode('a.example.org');
      moving.site.node({ fqdn });
      const { report } = await moving.move();
      expect(kindOf(report, 'nodes').conflicts).to.deep.equal([
        { name: fqdn, reason: `It is registered here with the id ${nodeId}` },
      ]);
    });

    const addVersionOf = (name: string, version: string, text: string) =>
      moving.hawser.admin.upload(CONFIGURATIONS, { fields: { name, version }, files: { [MAIN]: text } });
  });

  describe('is refused', () => {
    const refused = async (words: readonly string[], code: number, said: string | RegExp) => {
      const ended = await runHawser(moving.hawser.folder, {}, ['import-opendsc', ...words]);
      const [first = ''] = ended.stderr.split('\n');
      expect({ code: ended.code, stdout: ended.stdout }, ended.stderr).to.deep.equal({ code, stdout: '' });
      expect(first).to.match(typeof said === 'string' ? new RegExp(said) : said);
    };

    it('with words that are missing or unknown', async () => {
      await refused([], 64, 'import-opendsc: --database is missing');
      const { stderr } = await runHawser(moving.hawser.folder, {}, ['import-opendsc', '--database']);
      expect(stderr).to.match(
        /^hawser: import-opendsc: .*\n\nusage: hawser import-opendsc --database <file or URL> --files <folder> \[--skip .*\n$/,
      );
      await refused(['--database', '/none'], 64, 'import-opendsc: --files is missing');
      const words = ['--database', '/none', '--files', '/none'];
      await refused(
        [...words, '--skip', 'moons'],
        64,
        '--skip does not know "moons"; there are scope types,',
      );
    });

    it('without a source that can be read', async () => {
      const folder = join(moving.hawser.folder, 'source');
      mkdirSync(folder);
      writeFileSync(join(folder, 'text.db'), 'this is no database, but it is long enough to be looked at\n');
      await refused(['--database', join(folder, 'none.db'), '--files', folder], 1, 'none\\.db');
      await refused(['--database', join(folder, 'text.db'), '--files', folder], 1, 'text\\.db');
      const sqlServer = 'Server=db;Database=opendsc;User=sa;Password=hunter2hunter2';
      await refused(
        ['--database', sqlServer, '--files', folder],
        1,
        /^hawser: SQL Server is not read; export/,
      );
    });

    it('where the folder is that of another database: how many files, and the first five', async () => {
      const web = moving.site.configuration({ name: 'web' });
      for (let minor = 0; minor < 7; minor += 1) moving.site.version(web, { version: `1.${minor}.0` });
      const spoil = (files: string) => rmSync(join(files, 'configurations'), { recursive: true });
      const { ended } = await moving.run({ spoil });
      expect(ended.code).to.equal(1);
      expect(ended.stderr).to.match(
        /^hawser: the folder is not that of this database: none of its 7 files is there, such as (web 1\.\d\.0 main\.dsc\.yaml(, )?){5}\n$/,
      );
      expect(await ok(200, moving.hawser.admin.get(CONFIGURATIONS))).to.deep.equal([]);
    });

    it('without making anything in new folders', async () => {
      moving.site.version(moving.site.configuration({ name: 'web' }));
      const written = await write(moving.site);
      moving.folders.push(written.files);
      rmSync(join(written.files, 'configurations'), { recursive: true });
      const folder = mkdtempSync(join(tmpdir(), 'hawser-import-test-'));
      moving.folders.push(folder);
      const words = ['import-opendsc', ...sourceWords(written)];
      expect((await runHawser(folder, {}, words)).code).to.equal(1);
      expect(readdirSync(folder)).to.deep.equal([]);
    });

    it('while the server runs, which a dry run does not mind,', async () => {
      const written = await write(moving.site);
      moving.folders.push(written.files);
      await moving.hawser.server.close();
      const server = await spawnHawser(moving.hawser.folder);
      await server.listening();
      await refused(sourceWords(written), 78, /stop (that one|them) first/i);
      const { code, stderr } = await runHawser(moving.hawser.folder, {}, [
        ...['import-opendsc', ...sourceWords(written), '--dry-run'],
      ]);
      expect(code, stderr).to.equal(0);
      server.child.kill('SIGTERM');
      await server.ended;
    });
  });
});

describeOnSqlite('an import into a database of another release', () => {
  it('is refused', async () => {
    const hawser = await startHawser();
    try {
      const written = await write(new OpenDscSite());
      await hawser.server.close();
      await changeRows(
        hawser,
        `delete from kysely_migration where name = (select max(name) from kysely_migration)`,
      );
      const { code, stderr } = await runHawser(hawser.folder, {}, [
        'import-opendsc',
        ...sourceWords(written),
      ]);
      expect(code).to.equal(1);
      expect(stderr).to.equal(
        'hawser: the database of this server is of another release; start the server of this one first\n',
      );
      rmSync(dirname(written.location), { recursive: true });
    } finally {
      await hawser.close();
    }
  });
});
