// full: SQLite
import { expect } from 'chai';
import fc from 'fast-check';
import type { ProposedFile } from '../../../src/resolve/proposed-versions.ts';
import { declaring, PreviewSite, type Wanted } from '../../support/preview-site.ts';
import { onStore } from '../git/support.ts';

const MARK = 'hush';
const lines = (parameters: Record<string, string>) =>
  `parameters:\n${Object.entries(parameters)
    .map(([name, value]) => `  ${name}: ${value}\n`)
    .join('')}`;

/** Values as YAML. Those of secure parameters bear the mark. */
const values = fc.record(
  {
    port: fc.constantFrom('1', '2', '1.0', '"1"', '[1, 2]', '{}', '{a: 1, b: {c: 2}}', 'null'),
    name: fc.constantFrom('x', '{a: x}', '9007199254740993'),
    key: fc.constantFrom(`${MARK}-1`, `${MARK}-2`, `{a: ${MARK}-3}`, '{}'),
    login: fc.constantFrom(`{user: ${MARK}-4}`, `{pass: ${MARK}-5, user: ${MARK}-6}`, `[${MARK}-7]`),
  },
  { requiredKeys: [] },
);
const document = fc.oneof(
  {
    weight: 8,
    arbitrary: values.map((all) => (Object.keys(all).length === 0 ? 'parameters: {}\n' : lines(all))),
  },
  fc.constantFrom('note: x\n', 'parameters: 5\n'),
);
const SERIES = ['Default', 'Environment/prod'];
const proposedFile = fc.record({
  configurationName: fc.constantFrom('web', 'api'),
  series: fc.constantFrom(...SERIES),
  version: fc.constantFrom('1.9.0', '2.9.0'),
  content: fc.option(document.map((text) => ({ type: 'yaml' as const, bytes: Buffer.from(text) }))),
});
const proposals: fc.Arbitrary<ProposedFile[]> = fc.uniqueArray(proposedFile, {
  selector: ({ configurationName, series, version }) => `${configurationName} ${series} ${version}`,
  maxLength: 3,
});
const scopes = fc.constantFrom([], ['Environment/prod']);
const wanted: fc.Arbitrary<Wanted> = fc.oneof(
  fc.record({
    name: fc.constantFrom('web', 'api'),
    version: fc.constantFrom('1.0.0', '1.1.0', '2.0.0'),
    scopes,
    isManaged: fc.constantFrom(true, true, true, false),
  }),
  fc.record({
    ...{ kind: fc.constant('composites' as const), name: fc.constant('all') },
    ...{ version: fc.constantFrom('1.0.0', '2.0.0'), scopes },
  }),
);

async function fill(site: PreviewSite): Promise<void> {
  const secure = { key: 'secureString', login: 'secureObject' };
  const entries = {
    '1.0.0': { 'main.dsc.yaml': declaring({ port: 'int', ...secure }), 'a.txt': 'a\n', 'b.txt': 'b\n' },
    '1.1.0': { 'main.dsc.yaml': declaring({ name: 'string', ...secure }), 'c.txt': 'a\n', 'b.txt': 'B\n' },
    '2.0.0': { 'main.dsc.yaml': declaring({ port: 'string', ...secure }), 'a.txt': 'a\n' },
  };
  for (const name of ['web', 'api']) {
    for (const [version, files] of Object.entries(entries)) await site.version(name, version, files);
    const low = lines({ port: '1', key: `${MARK}-1`, login: `{user: ${MARK}-4}` });
    await site.parameters(name, 'Default', '1.0.0', low);
    await site.parameters(name, 'Environment/prod', name === 'web' ? '1.0.0' : '2.0.0', lines({ name: 'x' }));
  }
  await site.composite('all', '1.0.0', { web: '1.0.0', api: '2.0.0' });
  await site.composite('all', '2.0.0', { web: '1.1.0' });
}

describe('random groups', () => {
  it('are counted as they are listed, from what was kept, and show no secret', () =>
    onStore(async ({ store }) => {
      const site = new PreviewSite(store);
      await fill(site);
      const run = async (before: Wanted | null, after: Wanted, files: ProposedFile[]) => {
        const preview = await site.preview(before, after, { published: [], files });
        const told = await preview.text();
        const { fileChanges, parameters } = JSON.parse(told);
        expect(preview.facts.parameterChanges).to.equal(parameters.length);
        const count = (kind: string) =>
          fileChanges.filter(({ change }: { change: string }) => change === kind).length;
        expect(preview.facts.files).to.deep.equal({
          ...{ added: count('Added'), removed: count('Removed') },
          ...{ modified: count('Modified'), renamed: count('Renamed') },
        });
        const diffs = [];
        for (const { path } of fileChanges) diffs.push(JSON.stringify(await preview.fileDiff(path)));
        expect([told, preview.kept, ...diffs].join('\n')).not.to.contain(MARK);
      };
      await fc.assert(fc.asyncProperty(fc.option(wanted, { freq: 8 }), wanted, proposals, run), {
        numRuns: 150,
      });
    }));
});
