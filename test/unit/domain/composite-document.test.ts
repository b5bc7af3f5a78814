import { expect } from 'chai';
import {
  type CompositeChild,
  type CompositeDocument,
  MAX_CHILDREN,
  parseComposite,
  printComposite,
  takesEntryPoint,
} from '../../../src/domain/composite-document.ts';

const idOf = (at: number) => `00000000-0000-4000-8000-${String(at).padStart(12, '0')}`;
const child = (configuration: string, more: Partial<CompositeChild> = {}): CompositeChild => ({
  id: idOf(configuration.charCodeAt(0)),
  configuration,
  version: null,
  majorVersion: null,
  order: 0,
  ...more,
});
const document = (...children: CompositeChild[]): CompositeDocument => ({
  entryPoint: 'main.dsc.yaml',
  children,
});

describe('composite document', () => {
  it('comes back as it was printed, its children by order and name', () => {
    const printed = printComposite(
      document(child('c', { order: 1 }), child('b', { version: '1.0.0-rc.1+x' }), child('a', { order: 1 })),
    );
    expect(parseComposite(printed)).to.deep.equal(
      document(child('b', { version: '1.0.0-rc.1+x' }), child('a', { order: 1 }), child('c', { order: 1 })),
    );
    expect(parseComposite(printComposite(document()))).to.deep.equal(document());
  });

  it('is printed to the same bytes whatever the order of members and children', () => {
    const printed = printComposite(document(child('b'), child('a')));
    const [a, b] = [child('a'), child('b')];
    const { id, configuration, majorVersion, version, order } = a;
    const turned = { order, version, majorVersion, configuration, id };
    expect(printComposite({ children: [turned, b], entryPoint: 'main.dsc.yaml' })).to.equal(printed);
    expect(printed).to.match(/^\{\n {2}"entryPoint": "main\.dsc\.yaml",\n[\s\S]*\}\n$/);
  });

  it('says which major a child follows, and nothing of it where that is any', () => {
    const major = document(child('a', { majorVersion: 2 }));
    expect(parseComposite(printComposite(major))).to.deep.equal(major);
    expect(printComposite(document(child('a')))).to.not.include('majorVersion');
  });

  it('leaves the children that it is given in their order', () => {
    const children = [child('b'), child('a')];
    printComposite(document(...children));
    expect(children.map(({ configuration }) => configuration)).to.deep.equal(['b', 'a']);
  });

  it('passes over members that it does not know', () => {
    const text = JSON.stringify({ ...document({ ...child('a'), note: 'x' } as CompositeChild), note: 'x' });
    expect(parseComposite(text)).to.deep.equal(document(child('a')));
  });

  it('is none when anything in it is not as it must be', () => {
    const bad: [what: string, content: unknown][] = [
      ['nothing', null],
      ['a list', []],
      ['no children', { entryPoint: 'main.dsc.yaml' }],
      ['no entry point', { children: [] }],
      ['an entry point outside', { entryPoint: '../main.dsc.yaml', children: [] }],
      ['an entry point in another form', { entryPoint: 'a\\b.yaml', children: [] }],
      ['an entry point that is a device', { entryPoint: 'nul', children: [] }],
      ['a child twice', document(child('a'), child('a', { id: idOf(1) }))],
      ['a child twice but for its case', document(child('a'), child('A', { id: idOf(1) }))],
      ['an id twice', document(child('a'), child('b', { id: child('a').id }))],
      ['an id in upper case', document(child('a', { id: 'ABCDEF00-0000-4000-8000-000000000000' }))],
      ['an id that is none', document(child('a', { id: 'a' }))],
      ['a name that is none', document(child('../a'))],
      ['a version that is none', document(child('a', { version: '../1' }))],
      ['no version', document({ ...child('a'), version: undefined } as unknown as CompositeChild)],
      ['a major below 0', document(child('a', { majorVersion: -1 }))],
      ['a version and a major', document(child('a', { version: '1.0.0', majorVersion: 1 }))],
      ['an order below 0', document(child('a', { order: -1 }))],
      ['a broken order', document(child('a', { order: 0.5 }))],
      ['an order too large to be exact', document(child('a', { order: 2 ** 53 }))],
      ['a child at the entry point', document(child('Main.DSC.yaml'))],
    ];
    for (const [what, content] of bad) expect(parseComposite(JSON.stringify(content)), what).to.equal(null);
    for (const text of ['', '{', 'entryPoint: main.dsc.yaml']) expect(parseComposite(text)).to.equal(null);
  });

  it('holds so many children and no more', () => {
    const children = (count: number) =>
      Array.from({ length: count }, (_, at) => child(`c${at}`, { id: idOf(at), order: at }));
    expect(parseComposite(printComposite(document(...children(MAX_CHILDREN))))?.children).to.have.length(
      MAX_CHILDREN,
    );
    expect(parseComposite(printComposite(document(...children(MAX_CHILDREN + 1))))).to.equal(null);
  });

  it('takes names of versions that are no SemVer', () => {
    const seasonal = document(child('a', { version: '2026_spring' }));
    expect(parseComposite(printComposite(seasonal))).to.deep.equal(seasonal);
  });

  it('is not disturbed by names that mean something to JavaScript', () => {
    const names = ['constructor', 'toString', 'hasOwnProperty'];
    const odd = document(...names.map((name, at) => child(name, { id: idOf(at), order: at })));
    expect(parseComposite(printComposite(odd))).to.deep.equal(odd);
  });
});

describe('takesEntryPoint', () => {
  it('says whether a folder of that name would stand in the way of the entry point', () => {
    const taken: [entryPoint: string, name: string][] = [
      ['main.dsc.yaml', 'main.dsc.yaml'],
      ['main.dsc.yaml', 'MAIN.dsc.Yaml'],
      ['sub/main.dsc.yaml', 'sub'],
      ['Sub/main.dsc.yaml', 'sUB'],
      // One file to a file system that folds fully.
      ['straße', 'STRASSE'],
      ['\u212aelvin.yaml', 'kelvin.yaml'],
    ];
    for (const [entryPoint, name] of taken)
      expect(takesEntryPoint(entryPoint, name), entryPoint).to.equal(true);
    const free: [entryPoint: string, name: string][] = [
      ['main.dsc.yaml', 'main.dsc'],
      ['main.dsc.yaml', 'main.dsc.yaml2'],
      ['sub/main.dsc.yaml', 'main.dsc.yaml'],
      ['sub/main.dsc.yaml', 'su'],
    ];
    for (const [entryPoint, name] of free)
      expect(takesEntryPoint(entryPoint, name), entryPoint).to.equal(false);
  });
});
