import { expect } from 'chai';
import { sha256Hex } from '../../../src/lib/hash.ts';
import { declaring, NO_CHANGES, PreviewSite } from '../../support/preview-site.ts';
import { codeOf, onStore } from '../git/support.ts';

/** Runs the work on empty repositories. */
const onSite = (work: (site: PreviewSite) => Promise<void>) =>
  onStore(({ store }) => work(new PreviewSite(store)));
const web = (version: string, ...scopes: string[]) => ({ name: 'web', version, scopes });
const setting = (...lines: string[]) => `parameters:\n${lines.map((line) => `  ${line}\n`).join('')}`;

describe('the files of a group', () => {
  it('are counted and told by path, parameters and executable bits too', () =>
    onSite(async (site) => {
      const common = { 'kept.txt': 'same\n', 'moved.txt': 'moves\n' };
      await site.version('web', '1.0.0', { ...common, 'gone.txt': 'x\n', 'edited.txt': 'a\nb\n' });
      const fresh = { 'edited.txt': 'a\nc\nd\n', 'new.bin': Buffer.from([0, 1]) };
      await site.version('web', '1.1.0', { 'kept.txt': 'same\n', 'other.txt': 'moves\n', ...fresh });
      await site.parameters('web', 'Default', '1.0.0', setting('port: 80'));
      await site.parameters('web', 'Environment/prod', '1.0.0', setting('port: 81'), false);
      const series = 'Environment/prod';
      const published = [{ kind: 'parameters', name: 'web', series, version: '1.0.0' } as const];
      const change = { published, files: [] };
      const preview = await site.preview(web('1.0.0', series), web('1.1.0', series), change);
      expect(preview.facts.files).to.deep.equal({ added: 1, removed: 1, modified: 2, renamed: 1 });
      expect(await preview.changes()).to.deep.equal([
        'Modified edited.txt',
        'Removed gone.txt',
        'Added new.bin',
        'Renamed other.txt moved.txt',
        'Modified parameters.yaml',
      ]);
      const { fileChanges } = await preview.all();
      expect(fileChanges[0]).to.include({ additions: 2, deletions: 1, sizeBefore: 4, sizeAfter: 6 });
      expect(fileChanges[2]).to.include({ isBinary: true, additions: null, checksumBefore: null });
      const [old, next] = [setting('port: 80'), setting('port: 81')];
      expect(fileChanges[4]).to.deep.include({
        ...{ sizeBefore: old.length, sizeAfter: next.length, additions: 1, deletions: 1 },
        ...{ checksumBefore: sha256Hex(old), checksumAfter: sha256Hex(next) },
      });
      expect(await preview.lines('edited.txt')).to.deep.equal(['-b', '+c', '+d']);
      expect(await preview.lines('parameters.yaml')).to.deep.equal(['-  port: 80', '+  port: 81']);
      expect(await preview.fileDiff('moved.txt')).to.include({ path: 'other.txt', change: 'Renamed' });
      expect(await preview.fileDiff('kept.txt')).to.include({ change: 'Unchanged' });
      expect(await preview.fileDiff('new.bin')).to.include({ change: 'Added', isBinary: true });
      expect(await preview.fileDiff('none.txt')).to.equal(null);
    }));

  it('too large to be shown have no lines', () =>
    onSite(async (site) => {
      await site.version('web', '1.0.0', { 'large.txt': 'x\n'.repeat(20_001) });
      await site.version('web', '1.1.0', { 'large.txt': 'y\n'.repeat(20_001) });
      const preview = await site.preview(web('1.0.0'), web('1.1.0'));
      const [change] = (await preview.all()).fileChanges;
      expect(change).to.include({ change: 'Modified', isBinary: false, additions: null, deletions: null });
      expect(await preview.fileDiff('large.txt'))
        .to.include({ isTooLarge: true })
        .and.deep.include({ hunks: [] });
    }));

  it('are those of the whole bundle of a composite, with its generated document', () =>
    onSite(async (site) => {
      for (const name of ['web', 'database']) {
        await site.version(name, '1.0.0', { [`${name}.txt`]: `${name}\n` });
        await site.parameters(name, 'Default', '1.0.0', setting(`name: ${name}`));
      }
      await site.composite('all', '1.0.0', { web: '1.0.0' });
      await site.composite('all', '1.1.0', { web: '1.0.0', database: '1.0.0' });
      const all = (version: string) => ({ kind: 'composites' as const, name: 'all', version });
      const preview = await site.preview(all('1.0.0'), all('1.1.0'));
      expect(preview.facts.files).to.deep.equal({ added: 3, removed: 0, modified: 1, renamed: 0 });
      expect(await preview.changes()).to.deep.equal([
        'Added database/database.txt',
        'Added database/main.dsc.yaml',
        'Added database/parameters.yaml',
        'Modified main.dsc.yaml',
      ]);
      const lines = await preview.lines('database/parameters.yaml');
      expect(lines).to.deep.equal(['+parameters:', '+  name: database']);
      expect(preview.facts.parameterChanges).to.equal(1);
      expect(await preview.parameters()).to.deep.equal(['/database/parameters/name null "database"']);
      const { mergedParameters } = await preview.all();
      expect(mergedParameters).to.deep.equal({
        before: 'web:\n  parameters:\n    name: web\n',
        after: 'web:\n  parameters:\n    name: web\ndatabase:\n  parameters:\n    name: database\n',
      });

      const single = await site.preview(all('1.0.0'), web('1.0.0'));
      expect(single.facts.files).to.deep.equal({ added: 0, removed: 1, modified: 1, renamed: 2 });
      expect(await single.changes(), 'its files leave their folder').to.deep.equal([
        'Modified main.dsc.yaml',
        'Renamed parameters.yaml web/parameters.yaml',
        'Renamed web.txt web/web.txt',
        'Removed web/main.dsc.yaml',
      ]);
    }));

  it('are unchanged where a configuration brings the very bytes that were merged', () =>
    onSite(async (site) => {
      const text = setting('port: 80');
      await site.version('web', '1.0.0', {});
      await site.parameters('web', 'Default', '1.0.0', text);
      await site.version('own', '1.0.0', { 'parameters.yaml': text });
      const own = { name: 'own', version: '1.0.0', isManaged: false };
      for (const preview of [await site.preview(web('1.0.0'), own), await site.preview(own, web('1.0.0'))]) {
        expect(preview.facts.files).to.deep.equal({ added: 0, removed: 0, modified: 0, renamed: 0 });
        expect(await preview.changes()).to.deep.equal([]);
        expect(await preview.fileDiff('parameters.yaml')).to.include({ change: 'Unchanged' });
        expect(preview.facts.parameterChanges, 'the server knows those of one side alone').to.equal(1);
      }
    }));
});

describe('the parameters of a group', () => {
  it('that differ are listed by path, exactly, with the files that they come from', () =>
    onSite(async (site) => {
      await site.version('web', '1.0.0', {});
      const low = setting('big: 9007199254740993', 'rate: 1', 'z: {a: 1}');
      await site.parameters('web', 'Default', '1.0.0', low);
      await site.parameters('web', 'Environment/prod', '1.0.0', setting('list: [1, 2]', 'gone: x'));
      const text = setting('big: 9007199254740995', 'rate: 1.0', 'z: {a: 1, b: 0.10}', 'list: [3]');
      await site.parameters('web', 'Default', '1.1.0', text, false);
      await site.parameters('web', 'Environment/prod', '1.1.0', null, false);
      const published = ['Default', 'Environment/prod'].map((series) => {
        return { kind: 'parameters', name: 'web', series, version: '1.1.0' } as const;
      });
      const wanted = web('1.0.0', 'Environment/prod');
      const preview = await site.preview(wanted, wanted, { published, files: [] });
      expect(preview.facts.parameterChanges).to.equal(5);
      const source = (scopeTypeName: string, scopeValue: string | null, version: string) =>
        JSON.stringify({ scopeTypeName, scopeValue, version });
      const [below, above] = [source('Default', null, '1.0.0'), source('Environment', 'prod', '1.0.0')];
      const next = source('Default', null, '1.1.0');
      const leaf = (path: string, before: string, after: string, ...sources: string[]) =>
        `{"path":"/parameters/${path}","before":${before},"after":${after},"beforeSource":${sources[0]},"afterSource":${sources[1]}}`;
      expect(await preview.text()).to.contain(
        `"parameters":[${[
          leaf('big', '9007199254740993', '9007199254740995', below, next),
          leaf('gone', '"x"', 'null', above, 'null'),
          leaf('list', '[1,2]', '[3]', above, next),
          leaf('rate', '1', '1.0', below, next),
          leaf('z/b', 'null', '0.10', 'null', next),
        ].join()}]`,
      );
    }));

  it('are compared by path where the configuration is another', () =>
    onSite(async (site) => {
      const files = { 'main.dsc.yaml': declaring({ port: 'int', key: 'secureString' }) };
      await site.version('web', '1.0.0', files);
      await site.version('api', '2.0.0', files);
      const text = setting('port: 80', 'key: same');
      await site.parameters('web', 'Default', '1.0.0', text);
      await site.parameters('api', 'Default', '1.0.0', text);
      const preview = await site.preview(web('1.0.0'), { name: 'api', version: '2.0.0' });
      expect(preview.facts.parameterChanges).to.equal(1);
      // The secret comes from the file of another configuration.
      expect(await preview.parameters()).to.deep.equal(['/parameters/key "<redacted>" "<redacted>"']);
    }));

  it('are all new where the node got nothing, and untold where it will', () =>
    onSite(async (site) => {
      await site.version('web', '1.0.0', { 'main.dsc.yaml': declaring({ port: 'int', name: 'string' }) });
      await site.parameters('web', 'Default', '1.0.0', setting('port: x'));
      const fresh = await site.preview(null, web('1.0.0'));
      expect(fresh.facts).to.deep.include({
        ...{ files: { added: 2, removed: 0, modified: 0, renamed: 0 }, parameterChanges: 1 },
      });
      expect(fresh.facts.newProblems.map(({ path, code }) => `${path} ${code}`)).to.deep.equal([
        '/parameters/port type',
        '/parameters/name required',
      ]);
      expect(await fresh.parameters()).to.deep.equal(['/parameters/port null "x"']);
      expect((await fresh.all()).mergedParameters).to.deep.equal({ before: null, after: setting('port: x') });

      const lost = await site.preview(web('1.0.0'), null);
      expect(lost.facts).to.deep.include({
        ...{ files: { added: 0, removed: 0, modified: 0, renamed: 0 }, parameterChanges: 0, newProblems: [] },
      });
      expect(await lost.all()).to.deep.equal({
        ...{ fileChanges: [], parameters: [] },
        mergedParameters: { before: setting('port: x'), after: null },
      });
      expect(await lost.fileDiff('main.dsc.yaml')).to.equal(null);
    }));

  it('bring new problems, which stand behind the name of a child', () =>
    onSite(async (site) => {
      await site.version('web', '1.0.0', { 'main.dsc.yaml': declaring({ port: 'int' }) });
      await site.version('web', '2.0.0', { 'main.dsc.yaml': declaring({ port: 'int', name: 'string' }) });
      await site.parameters('web', 'Default', '1.0.0', setting('port: x'));
      await site.composite('all', '1.0.0', { web: '1.0.0' });
      await site.composite('all', '2.0.0', { web: '2.0.0' });
      const codes = async (before: Parameters<PreviewSite['preview']>[0], after: typeof before) =>
        (await site.preview(before, after)).facts.newProblems.map(({ path, code }) => `${path} ${code}`);
      expect(await codes(web('1.0.0'), web('2.0.0'))).to.deep.equal(['/parameters/name required']);
      const all = (version: string) => ({ kind: 'composites' as const, name: 'all', version });
      expect(await codes(all('1.0.0'), all('2.0.0'))).to.deep.equal(['/web/parameters/name required']);
      expect(await codes(web('2.0.0'), all('2.0.0'))).to.deep.equal([
        ...['/web/parameters/port type', '/web/parameters/name required'],
      ]);
    }));
});

describe('where there is no more room', () => {
  it('the differences that are missing are told so, and no further group has details', () =>
    onSite(async (site) => {
      await site.version('web', '1.0.0', { 'a.txt': 'one\n', 'b.txt': 'one\n', 'c.txt': 'same\n' });
      await site.version('web', '1.1.0', { 'a.txt': 'two\n', 'b.txt': 'two\n', 'c.txt': 'same\n' });
      // The comparison itself reads 16 bytes, and the first difference 8.
      const preview = await site.preview(web('1.0.0'), web('1.1.0'), NO_CHANGES, { kept: 1e6, read: 20 });
      expect(await preview.changes()).to.deep.equal(['Modified a.txt', 'Modified b.txt']);
      expect(await preview.lines('a.txt')).to.deep.equal(['-one', '+two']);
      for (const path of ['b.txt', 'c.txt', 'none.txt'])
        expect(await codeOf(preview.fileDiff(path)), path).to.equal('narrow_preview');
      expect(preview.hasMoreRoom).to.equal(false);
    }));
});
