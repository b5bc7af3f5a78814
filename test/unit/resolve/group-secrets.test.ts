import { expect } from 'chai';
import { sha256Hex } from '../../../src/lib/hash.ts';
import type { ProposedFile } from '../../../src/resolve/proposed-versions.ts';
import { declaring, type KeptPreview, PreviewSite } from '../../support/preview-site.ts';
import { onStore } from '../git/support.ts';

const onSite = (work: (site: PreviewSite) => Promise<void>) =>
  onStore(({ store }) => work(new PreviewSite(store)));
const web = (version: string, ...scopes: string[]) => ({ name: 'web', version, scopes });
const setting = (...lines: string[]) => `parameters:\n${lines.map((line) => `  ${line}\n`).join('')}`;
const secret = { 'main.dsc.yaml': declaring({ port: 'int', key: 'secureString', login: 'secureObject' }) };

const proposal = (text: string | null, version = '1.5.0', series = 'Default'): ProposedFile => ({
  ...{ configurationName: 'web', series, version },
  content: text === null ? null : { type: 'yaml', bytes: Buffer.from(text) },
});

/** Looks for a text in all that is kept and answered. */
async function expectHidden(preview: KeptPreview, ...texts: string[]): Promise<void> {
  const diff = JSON.stringify(await preview.fileDiff('parameters.yaml'));
  const all = [preview.kept, JSON.stringify(preview.facts.newProblems)];
  for (const text of texts) expect([...all, await preview.text(), diff].join('\n')).not.to.contain(text);
}

describe('the secure values of a group', () => {
  it('are redacted everywhere, and listed where they come from another file', () =>
    onSite(async (site) => {
      await site.version('web', '1.0.0', secret);
      const login = 'login: {user: alice-secret, pass: p-secret}';
      await site.parameters('web', 'Default', '1.0.0', setting('port: 80', 'key: old-secret', login));
      await site.parameters('web', 'Environment/prod', '1.0.0', setting('login: {pass: q-secret}'));
      await site.parameters('web', 'Default', '1.1.0', setting('port: 80', 'key: new-secret', login), false);
      const published = [{ kind: 'parameters', name: 'web', series: 'Default', version: '1.1.0' } as const];
      const wanted = web('1.0.0', 'Environment/prod');
      const preview = await site.preview(wanted, wanted, { published, files: [] });
      expect(preview.facts.parameterChanges).to.equal(2);
      expect(await preview.parameters()).to.deep.equal([
        '/parameters/key "<redacted>" "<redacted>"',
        '/parameters/login/user "<redacted>" "<redacted>"',
      ]);
      const [file] = (await preview.all()).fileChanges;
      expect(file, 'the real file differs, what is shown of it does not').to.include({
        ...{ change: 'Modified', additions: 0, deletions: 0 },
      });
      expect(file.checksumBefore).not.to.equal(file.checksumAfter);
      expect(file.sizeAfter, 'longer by nothing but its real values').to.equal(file.sizeBefore);
      expect(await preview.lines('parameters.yaml')).to.deep.equal([]);
      const shown = setting('port: 80', 'key: "<redacted>"', 'login: "<redacted>"');
      expect((await preview.all()).mergedParameters).to.deep.equal({ before: shown, after: shown });
      await expectHidden(preview, '-secret');
    }));

  it('are redacted on the side alone on which they are secure', () =>
    onSite(async (site) => {
      await site.version('web', '1.0.0', { 'main.dsc.yaml': declaring({ key: 'string' }) });
      await site.version('web', '2.0.0', { 'main.dsc.yaml': declaring({ key: 'secureString' }) });
      await site.parameters('web', 'Default', '1.0.0', setting('key: known'));
      await site.parameters('web', 'Default', '2.0.0', setting('key: hidden'));
      const preview = await site.preview(web('1.0.0'), web('2.0.0'));
      expect(await preview.parameters()).to.deep.equal(['/parameters/key "known" "<redacted>"']);
      expect(await preview.lines('parameters.yaml')).to.deep.equal(['-  key: known', '+  key: "<redacted>"']);
      await expectHidden(preview, 'hidden');
      const back = await site.preview(web('2.0.0'), web('1.0.0'));
      expect(await back.parameters()).to.deep.equal(['/parameters/key "<redacted>" "known"']);
      await expectHidden(back, 'hidden');
    }));

  it('stay secret in a file of a lower major, and are not listed while the file is the same', () =>
    onSite(async (site) => {
      await site.version('web', '1.0.0', secret);
      await site.version('web', '2.0.0', { 'main.dsc.yaml': declaring({ port: 'int', key: 'string' }) });
      await site.parameters('web', 'Default', '1.0.0', setting('port: 80', 'key: old-secret'));
      const preview = await site.preview(web('1.0.0'), web('2.0.0'));
      expect(preview.facts.parameterChanges).to.equal(0);
      expect(await preview.parameters()).to.deep.equal([]);
      expect((await preview.all()).mergedParameters.after).to.equal(setting('port: 80', 'key: "<redacted>"'));
      await expectHidden(preview, '-secret');
    }));

  it('are all values where the declarations cannot be read', () =>
    onSite(async (site) => {
      await site.version('web', '1.0.0', {});
      await site.version('web', '1.1.0', { 'main.dsc.yaml': 'parameters: {key: {type: nonsense}}\n' });
      await site.parameters('web', 'Default', '1.0.0', setting('key: open'));
      const preview = await site.preview(web('1.0.0'), web('1.1.0'));
      expect(preview.facts.parameterChanges).to.equal(0);
      const expected = { before: setting('key: open'), after: setting('key: "<redacted>"') };
      expect((await preview.all()).mergedParameters).to.deep.equal(expected);
    }));
});

describe('a proposed file', () => {
  it('is told without its secure values, and its leaves are those that were counted', () =>
    onSite(async (site) => {
      await site.version('web', '1.0.0', secret);
      const old = setting('port: 80', 'login: {user: old-secret, pin: {}}');
      await site.parameters('web', 'Default', '1.0.0', old);
      await site.parameters('web', 'Environment/prod', '1.0.0', setting('login: {pass: prod-secret}'));
      const text = `# a-secret comment\n${setting('port: 9007199254740993', 'key: k-secret', 'login: {user: u-secret, token: [t-secret]}')}`;
      const wanted = web('1.0.0', 'Environment/prod');
      const preview = await site.preview(wanted, wanted, { published: [], files: [proposal(text)] });
      expect(preview.facts.parameterChanges).to.equal(5);
      expect(await preview.text()).to.contain(
        '"path":"/parameters/port","before":80,"after":9007199254740993,"beforeSource":{"scopeTypeName":"Default","scopeValue":null,"version":"1.0.0"},"afterSource":{"scopeTypeName":"Default","scopeValue":null,"version":"1.5.0"}',
      );
      const paths = (await preview.all()).parameters.map(({ path }: { path: string }) => path);
      const names = ['key', 'login/pin', 'login/token', 'login/user', 'port'];
      expect(paths).to.deep.equal(names.map((name) => `/parameters/${name}`));
      expect((await preview.all()).mergedParameters.after).to.equal(
        setting('port: 9007199254740993', 'key: "<redacted>"', 'login: "<redacted>"'),
      );
      const [file] = (await preview.all()).fileChanges;
      const real = [
        ...['port: 9007199254740993', 'key: k-secret', 'login:', '  user: u-secret'],
        ...['  token:', '    - t-secret', '  pass: prod-secret'],
      ];
      expect(file.sizeAfter, 'the size of the real file').to.equal(setting(...real).length);
      expect(file.checksumAfter).to.equal(sha256Hex(setting(...real)));
      await expectHidden(preview, '-secret');
    }));

  it('shows a value where it is not secure', () =>
    onSite(async (site) => {
      await site.version('web', '1.0.0', { 'main.dsc.yaml': declaring({ key: 'string' }) });
      await site.version('web', '1.1.0', { 'main.dsc.yaml': declaring({ key: 'secureString' }) });
      const change = { published: [], files: [proposal(setting('key: value'))] };
      const open = await site.preview(web('1.0.0'), web('1.0.0'), change);
      expect(await open.parameters()).to.deep.equal(['/parameters/key null "value"']);
      const hidden = await site.preview(web('1.0.0'), web('1.1.0'), change);
      expect(await hidden.parameters()).to.deep.equal(['/parameters/key null "<redacted>"']);
      await expectHidden(hidden, 'key: value');
    }));

  it('may skip its scope', () =>
    onSite(async (site) => {
      await site.version('web', '1.0.0', {});
      await site.parameters('web', 'Environment/prod', '1.0.0', setting('port: 80'));
      const wanted = web('1.0.0', 'Environment/prod');
      const change = { published: [], files: [proposal(null, '1.5.0', 'Environment/prod')] };
      const preview = await site.preview(wanted, wanted, change);
      expect(preview.facts).to.deep.include({ parameterChanges: 1 });
      expect(preview.facts.files).to.deep.equal({ added: 0, removed: 1, modified: 0, renamed: 0 });
      expect(await preview.changes()).to.deep.equal(['Removed parameters.yaml']);
      expect((await preview.all()).mergedParameters.after).to.equal('{}\n');
    }));
});
