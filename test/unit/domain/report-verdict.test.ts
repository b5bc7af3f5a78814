import { expect } from 'chai';
import fc from 'fast-check';
import { judgeReport, type ReportOperation, type Verdict } from '../../../src/domain/report-verdict.ts';

const said = (inDesiredState: unknown) => ({ name: 'r', type: 'T/R', result: { inDesiredState } });
const group = (...members: unknown[]) => ({ name: 'g', type: 'Microsoft.DSC/Group', result: members });
const silent = { name: 's', type: 'T/R', result: { actualState: {} } };

const judge = (operation: ReportOperation, results: unknown[] | null | undefined, hadErrors = false) =>
  judgeReport(operation, { hadErrors, results });

describe('the verdict on a report', () => {
  const states: [string, unknown[], boolean | null][] = [
    ['one that says true', [said(true)], true],
    ['one that says false', [said(false)], false],
    ['true and false', [said(true), said(false), said(true)], false],
    ['true and nothing', [silent, said(true)], true],
    ['no results', [], null],
    ['nothing said', [silent, silent], null],
    ['a group whose members say true', [group(said(true), said(true))], true],
    ['a group with one that says false', [said(true), group(said(true), said(false))], false],
    ['groups in groups', [group(group(group(said(false)))), said(true)], false],
    ['an empty group', [group()], null],
    ['a group of groups that say nothing', [group(group(), group(silent))], null],
    ['what is no boolean', [said('true'), said(1), said(null), said({})], null],
    ['results without a result', [{ name: 'x' }, { result: null }, { result: 'text' }, { result: 7 }], null],
    ['members of a group that are no resources', [group(null, 1, 'x', [said(false)], said(true))], true],
    ['the resource itself, not its result', [{ inDesiredState: false, result: {} }], null],
    ['a state inside another', [{ result: { actualState: { inDesiredState: false } } }], null],
    ['a result inside a result', [{ result: { result: { inDesiredState: false } } }], null],
    ['results inside a result', [{ result: { results: [said(false)] } }], null],
  ];
  for (const [name, results, state] of states) {
    it(`looks where it should: ${name}`, () => {
      expect(judge('Test', results).inDesiredState).to.equal(state);
      // A Set of which no resource says otherwise has set the desired state.
      expect(judge('Set', results).inDesiredState).to.equal(state ?? true);
      expect(judge('Get', results).inDesiredState).to.equal(null);
      expect(judge('Export', results).inDesiredState).to.equal(null);
    });
  }

  it('says nothing of a Test, and true of a Set, that has no results at all', () => {
    for (const results of [null, undefined]) {
      expect(judge('Test', results).inDesiredState).to.equal(null);
      expect(judge('Set', results).inDesiredState).to.equal(true);
    }
  });

  const verdicts: [ReportOperation, unknown[], boolean, Verdict][] = [
    ['Test', [said(true)], false, { inDesiredState: true, nodeStatus: 'Compliant' }],
    ['Test', [said(false)], false, { inDesiredState: false, nodeStatus: 'NonCompliant' }],
    ['Test', [], false, { inDesiredState: null, nodeStatus: 'Unknown' }],
    ['Test', [said(true)], true, { inDesiredState: true, nodeStatus: 'Error' }],
    ['Test', [said(false)], true, { inDesiredState: false, nodeStatus: 'Error' }],
    ['Test', [], true, { inDesiredState: null, nodeStatus: 'Error' }],
    ['Set', [], false, { inDesiredState: true, nodeStatus: 'Compliant' }],
    ['Set', [said(false)], false, { inDesiredState: false, nodeStatus: 'NonCompliant' }],
    ['Set', [], true, { inDesiredState: true, nodeStatus: 'Error' }],
    ['Get', [said(false)], true, { inDesiredState: null, nodeStatus: null }],
    ['Export', [said(false)], true, { inDesiredState: null, nodeStatus: null }],
  ];
  for (const [operation, results, hadErrors, verdict] of verdicts) {
    const what = `${operation}, ${results.length} results, ${hadErrors ? 'errors' : 'no errors'}`;
    it(`gives the node its status: ${what} (${verdict.inDesiredState})`, () => {
      expect(judge(operation, results, hadErrors)).to.deep.equal(verdict);
    });
  }

  it('survives groups a million levels deep', () => {
    const deep = JSON.parse(
      `${'[{"result":'.repeat(1_000_000)}{"inDesiredState":false}${'}]'.repeat(1_000_000)}`,
    );
    expect(judge('Test', deep).inDesiredState).to.equal(false);
  });

  it('does not depend on how the resources are grouped', () => {
    const { tree } = fc.letrec<{ tree: unknown; leaf: unknown; node: unknown }>((tie) => ({
      tree: fc.oneof({ maxDepth: 5 }, tie('leaf'), tie('node')),
      leaf: fc.constantFrom(true, false, null).map(said),
      node: fc.array(tie('tree'), { maxLength: 4 }).map((members) => group(...members)),
    }));
    const leaves = (value: unknown): unknown[] => {
      const { result } = value as { result: unknown };
      return Array.isArray(result) ? result.flatMap(leaves) : [value];
    };
    fc.assert(
      fc.property(fc.array(tree, { maxLength: 5 }), (results) => {
        expect(judge('Test', results)).to.deep.equal(judge('Test', results.flatMap(leaves)));
      }),
    );
  });
});
