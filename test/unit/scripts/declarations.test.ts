import { expect } from 'chai';
import { readDeclaration, selectTests, testsBelow } from '../../../scripts/test/declarations.ts';

const declared = (line: string) => readDeclaration('x.test.ts', `${line}\nimport 'x';\n`);

describe('what a file of tests declares', () => {
  for (const [line, everyday, full] of [
    ['// everyday: SQLite, PostgreSQL', ['sqlite', 'postgres'], []],
    ['// everyday: SQLite; full: PostgreSQL', ['sqlite'], ['postgres']],
    ['// everyday: PostgreSQL', ['postgres'], []],
    ['// full: SQLite', [], ['sqlite']],
  ] as const)
    it(`is read from "${line}"`, () => {
      expect(declared(line)).to.deep.equal({ path: 'x.test.ts', everyday, full });
    });

  for (const line of ['', "import 'x';", '// everyday: MySQL', '// sometimes: SQLite', '//', '// '])
    it(`is refused when it is "${line}"`, () => {
      expect(() => declared(line)).to.throw('x.test.ts: the first line is not such as');
    });

  it('sends each file to exactly one of the everyday run and the rest, for each engine', () => {
    const listed = (tier: 'everyday' | 'rest' | 'full') =>
      selectTests(tier).flatMap(({ engine, paths }) => paths.map((path) => `${engine} ${path}`));
    expect([...listed('everyday'), ...listed('rest')].sort()).to.deep.equal(listed('full').sort());
    expect(new Set(listed('full').map((file) => file.split(' ')[1])).size).to.equal(
      testsBelow('test/unit').length + testsBelow('test/scenario').length,
    );
  });
});
