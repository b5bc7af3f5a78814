import { expect } from 'chai';
import fc from 'fast-check';
import { parse } from 'yaml';
import { printIncludeDocument } from '../../../src/domain/composite-document.ts';
import { words } from '../../support/words.ts';

const SCHEMA = 'https://aka.ms/dsc/schemas/v3/bundled/config/document.json';
const includeOf = (name: string, parametersFile: string | null = null) => ({
  name,
  configurationFile: `${name}/main.dsc.yaml`,
  parametersFile,
});
const read = (text: string, version: '1.1' | '1.2' = '1.2') => parse(text, { version, strict: true });

function namesAfterPrinting(names: string[], version?: '1.1' | '1.2'): unknown[] {
  const children = names.map((name) => includeOf(name));
  const { resources } = read(printIncludeDocument('main.dsc.yaml', children), version) ?? {};
  return (resources ?? []).map(({ name }: { name: unknown }) => name);
}

describe('include document', () => {
  it('includes each child in order, with parameters where there are any', () => {
    const text = printIncludeDocument('main.dsc.yaml', [
      includeOf('web', 'web/parameters.yaml'),
      includeOf('base'),
    ]);
    expect(read(text)).to.deep.equal({
      $schema: SCHEMA,
      resources: [
        {
          name: 'web',
          type: 'Microsoft.DSC/Include',
          properties: { configurationFile: 'web/main.dsc.yaml', parametersFile: 'web/parameters.yaml' },
        },
        {
          name: 'base',
          type: 'Microsoft.DSC/Include',
          properties: { configurationFile: 'base/main.dsc.yaml' },
        },
      ],
    });
  });

  it('is the same text each time: the checksum stands for it', () => {
    const children = [includeOf('1.0'), includeOf('web', 'web/parameters.yaml')];
    expect(printIncludeDocument('main.dsc.yaml', children)).to.equal(
      `$schema: "${SCHEMA}"
resources:
  - name: "1.0"
    type: "Microsoft.DSC/Include"
    properties:
      configurationFile: "1.0/main.dsc.yaml"
  - name: "web"
    type: "Microsoft.DSC/Include"
    properties:
      configurationFile: "web/main.dsc.yaml"
      parametersFile: "web/parameters.yaml"
`,
    );
  });

  it('is JSON where the entry point ends so', () => {
    for (const entryPoint of ['main.dsc.json', 'a/MAIN.JSON']) {
      const document = JSON.parse(printIncludeDocument(entryPoint, [includeOf('1.0')]));
      expect(document.resources[0].name).to.equal('1.0');
    }
    for (const entryPoint of ['main.dsc.yaml', 'main.yml', 'json', 'main.json.txt']) {
      expect(printIncludeDocument(entryPoint, []), entryPoint).to.match(/^\$schema: "https:/);
    }
  });

  it('keeps every name a string, to readers of YAML 1.1 too', () => {
    const names = [
      ...words('1.0 null ~ true yes NO on y 0x1f 0o17 017 1e3 .inf .NaN 2001-01-01 1:30 1_000'),
      ...words('- ? = << *a &a !a %a @a `a'),
      ...['# a', 'a: b'],
    ];
    for (const version of ['1.1', '1.2'] as const) {
      expect(namesAfterPrinting(names, version)).to.deep.equal(names);
    }
  });

  it('holds any path that a version may have', () => {
    fc.assert(
      fc.property(fc.array(fc.string({ unit: 'binary', minLength: 1 }), { maxLength: 5 }), (names) => {
        expect(namesAfterPrinting(names)).to.deep.equal(names);
      }),
    );
  });

  it('does not fold long lines', () => {
    const name = `${'word '.repeat(100)}end`;
    expect(printIncludeDocument('main.dsc.yaml', [includeOf(name)])).to.include(`name: "${name}"\n`);
  });
});
