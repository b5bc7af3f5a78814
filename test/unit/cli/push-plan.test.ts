import { expect } from 'chai';
import { UsageError } from '../../../src/cli/errors.ts';
import { planPush, type Version } from '../../../src/cli/folder/push-plan.ts';

/** `1.0.0` is published, `1.0.0?` a draft, and `1.0.0!` withdrawn. */
function versions(...words: string[]): Version[] {
  return words.map((word) => {
    const isDraft = word.endsWith('?');
    return {
      version: word.replace(/[?!]$/, ''),
      status: isDraft ? 'Draft' : 'Published',
      withdrawn: word.endsWith('!') ? { at: '', by: '', reason: '' } : null,
      entryPoint: `${word}.dsc.yaml`,
    } as Version;
  });
}

/** What is there, highest first, which version was said, and what is made: the version, what it replaces, what it is compared with. */
const CASES: [
  there: string[],
  said: string | undefined,
  made: string,
  present: string | null,
  below: string | null,
][] = [
  [[], undefined, '1.0.0', null, null],
  [['1.1.0', '1.0.0'], undefined, '1.1.1', null, '1.1.0'],
  [['1.2.0?', '1.1.0'], undefined, '1.2.0', '1.2.0', '1.1.0'],
  [['1.0.0?'], undefined, '1.0.0', '1.0.0', null],
  // A draft below what is published is no work that goes on.
  [['1.1.0', '1.0.5?', '1.0.0'], undefined, '1.1.1', null, '1.1.0'],
  // The number of a version that was taken back is not used again.
  [['1.1.0!', '1.0.0'], undefined, '1.1.1', null, '1.0.0'],
  [['2.0.0-rc.1', '1.0.0'], undefined, '2.0.0', null, '2.0.0-rc.1'],
  [['2.0.0', '1.0.0'], '1.4.0', '1.4.0', null, '1.0.0'],
  [['2.0.0', '1.4.0?', '1.0.0'], '1.4.0', '1.4.0', '1.4.0', '1.0.0'],
  [['2.0.0', '1.0.0'], '2.0.0', '2.0.0', '2.0.0', '1.0.0'],
  [['2.0.0?', '1.5.0?', '1.0.0'], '1.5.0', '1.5.0', '1.5.0', '1.0.0'],
  [['1.0.0+a?'], '1.0.0+b', '1.0.0+b', '1.0.0+a', null],
  [['2.0.0'], '1.0.0', '1.0.0', null, null],
];

describe('what a push makes', () => {
  for (const [there, said, version, present, below] of CASES)
    it(`is ${version} where there is ${there.join(', ') || 'nothing'} and ${said ?? 'no version'} is said`, () => {
      const plan = planPush(versions(...there), { version: said });
      expect([plan.version, plan.present?.version ?? null, plan.below?.version ?? null]).to.deep.equal([
        ...[version, present, below],
      ]);
    });

  it('is not guessed where several drafts could be meant', () => {
    expect(() => planPush(versions('1.2.0?', '1.1.0?', '1.0.0'), {})).to.throw(
      UsageError,
      'There are several drafts: 1.2.0, 1.1.0. Say which one by --version.',
    );
  });

  it('has the entry point that is said, else that of the draft, of the version below, or of the highest', () => {
    const entryPoint = (there: string[], wanted: Parameters<typeof planPush>[1] = {}) =>
      planPush(versions(...there), wanted).entryPoint;
    expect(entryPoint([])).to.equal('main.dsc.yaml');
    expect(entryPoint(['1.1.0?', '1.0.0'])).to.equal('1.1.0?.dsc.yaml');
    expect(entryPoint(['2.0.0', '1.0.0'], { version: '1.5.0' })).to.equal('1.0.0.dsc.yaml');
    expect(entryPoint(['2.0.0'], { version: '1.0.0' })).to.equal('2.0.0.dsc.yaml');
    expect(entryPoint(['1.1.0?'], { entryPoint: 'x.yaml' })).to.equal('x.yaml');
  });
});
