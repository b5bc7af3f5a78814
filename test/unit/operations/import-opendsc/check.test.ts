/** What counts as a difference between what two servers serve a node. */

import { expect } from 'chai';
import { parseParameterDocument, toPlain } from '../../../../src/domain/parameter-document.ts';
import type { Mapping } from '../../../../src/domain/value.ts';
import { compareServed } from '../../../../src/operations/import-opendsc/check/compare.ts';
import type { Part, Served } from '../../../../src/operations/import-opendsc/check/offer.ts';
import { withoutQuotes } from '../../../../src/operations/import-opendsc/check/plain-scalars.ts';

const yaml = (text: string): Mapping => parseParameterDocument(Buffer.from(text), 'yaml');

function part(change: Partial<Omit<Part, 'parameters'>> & { parameters?: string } = {}): Part {
  const { parameters, ...others } = change;
  return {
    ...{ name: 'web', version: '1.0.0', files: new Map([['main.dsc.yaml', 'a'.repeat(64)]]) },
    ...{ scopes: new Map([['Default', '1.0.0']]), secrets: new Set<string>(), unread: new Map() },
    ...others,
    parameters: parameters === undefined ? null : yaml(parameters),
  };
}

const served = (...parts: Part[]): Served => ({
  offer: { key: '', isComposite: parts.length !== 1, parts: new Map(parts.map((each) => [each.name, each])) },
});

const reasons = (there: Served, here: Served | undefined) =>
  compareServed(there, here).map(({ path, reason }) => `${path} ${reason}`);

describe('a text that OpenDSC writes without quotes', () => {
  for (const [text, value] of [
    ['"007"', 7],
    ['"true"', true],
    ['"FALSE"', false],
    ['"null"', null],
    ['"~"', null],
    ['"0x1F"', 31],
    ['"0o17"', 15],
    ['"1.50"', 1.5],
    ['"1e3"', 1000],
    ['"-3"', -3],
    ['""', ''],
    ['"yes"', 'yes'],
    ['"1.2.3"', '1.2.3'],
    ['"12 apples"', '12 apples'],
    ['"2026-11-26"', '2026-11-26'],
    ['plain', 'plain'],
    ['12', 12],
  ] as const)
    it(`is ${JSON.stringify(value)} for whoever reads ${text}`, () => {
      const read = toPlain(withoutQuotes(yaml(`parameters:\n  list: [{a: ${text}}]\n`))) as {
        parameters: { list: { a: unknown }[] };
      };
      const [first] = read.parameters.list;
      expect(typeof first?.a === 'bigint' ? Number(first.a) : first?.a).to.equal(value);
    });
});

describe('what two servers serve a node', () => {
  it('is the same with other formats of numbers and another order of keys', () => {
    const there = part({ parameters: 'parameters: {a: 1.0, b: 1e3, c: [x]}\n' });
    const here = part({ parameters: 'parameters: {c: [x], b: 1000, a: 1}\n' });
    expect(compareServed(served(there), served(here))).to.deep.equal([]);
  });

  it('is the same in a composite with another order of children', () => {
    const [one, other] = [part({ name: 'web' }), part({ name: 'base' })];
    expect(compareServed(served(one, other), served(other, one))).to.deep.equal([]);
  });

  it('differs in one value, which is named', () => {
    const there = part({ parameters: 'parameters: {a: {b/c: 1}, l: [1, 2]}\n' });
    const here = part({ parameters: 'parameters: {a: {b/c: 2}, l: [2, 1], more: x}\n' });
    expect(compareServed(served(there), served(here))).to.deep.equal([
      { path: 'parameters.yaml#/parameters/a/b~1c', there: 1, here: 2, reason: 'The value differs' },
      { path: 'parameters.yaml#/parameters/l', there: [1, 2], here: [2, 1], reason: 'The value differs' },
      { path: 'parameters.yaml#/parameters/more', there: null, here: 'x', reason: 'The value differs' },
    ]);
  });

  it('shows no value of a parameter that is secure', () => {
    const secrets = new Set(['password']);
    const there = part({ parameters: 'parameters: {password: hunter2, port: 1}\n' });
    const here = part({ parameters: 'parameters: {password: hunter3, port: 1}\n', secrets });
    const found = compareServed(served(there), served(here));
    expect(found).to.have.length(1);
    expect(JSON.stringify(found)).to.not.match(/hunter/);
  });

  it('differs with a reason of its own where quotes were lost, or the major is another one', () => {
    const quoted = part({ parameters: 'parameters: {a: "007"}\n' });
    const there = { ...quoted, parameters: quoted.parameters && withoutQuotes(quoted.parameters) };
    expect(reasons(served(there), served(quoted))).to.deep.equal([
      'parameters.yaml#/parameters/a A text that looks like another value has lost its quotes there',
    ]);
    const newer = part({ parameters: 'parameters: {a: 2}\n', scopes: new Map([['Default', '2.0.0']]) });
    const older = part({ parameters: 'parameters: {a: 1}\n' });
    expect(reasons(served(newer), served(older))).to.deep.equal([
      'parameters.yaml#/parameters/a The parameters of Default are of version 2.0.0 there, which is of another major than the configuration',
    ]);
  });

  it('differs in a file, with the versions where these differ', () => {
    const changed = part({ files: new Map([['main.dsc.yaml', 'b'.repeat(64)]]) });
    expect(reasons(served(part()), served(changed))).to.deep.equal(['main.dsc.yaml The file differs']);
    expect(reasons(served(part()), served({ ...changed, version: '1.1.0' }))).to.deep.equal([
      'main.dsc.yaml It is of version 1.0.0 there and of 1.1.0 here',
    ]);
    const more = part({ files: new Map([...part().files, ['x', 'c'.repeat(64)]]) });
    expect(reasons(served(part()), served(more))).to.deep.equal(['x The file differs']);
  });

  it('differs where a node is not here, or gets nothing on one side', () => {
    expect(reasons(served(part()), undefined)).to.deep.equal([' The node is not here']);
    expect(reasons(served(part()), null)).to.deep.equal([' Nothing is assigned to it here']);
    expect(reasons(served(part()), { fault: 'no version fits' })).to.deep.equal([
      ' It gets nothing here: no version fits',
    ]);
    expect(reasons(null, served(part()))).to.deep.equal([' It gets nothing there']);
    expect(reasons({ fault: 'no version' }, { fault: 'no version fits' })).to.deep.equal([]);
    expect(reasons(null, null)).to.deep.equal([]);
    const [there, here] = [served(part(), part({ name: 'base' })), served(part(), part({ name: 'new' }))];
    expect(reasons(there, here)).to.deep.equal([
      ' The configuration is served there only: base',
      ' The configuration is served here only: new',
    ]);
  });
});
