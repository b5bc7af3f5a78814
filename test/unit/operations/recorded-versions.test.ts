import { expect } from 'chai';
import type { PackedRef } from '../../../src/git/refs.ts';
import { RecordedVersions } from '../../../src/operations/backup/recorded-versions.ts';

const [FIRST = '', SECOND = '', THIRD = ''] = ['1', '2', '3'].map((digit) => digit.repeat(40));
const [COMMIT, TAG] = ['c'.repeat(40), 'a'.repeat(40)];
const BRANCH = 'refs/heads/rollout/1.1.0';

const entry = (what: string, commit: unknown) => ({
  resourceId: 'web',
  action: `configuration.${what}`,
  details: JSON.stringify({ version: '1.1.0', commit }),
});
const refsAt = (
  entries: ReturnType<typeof entry>[],
  before: string | undefined,
  after: string | undefined,
): Record<string, string> => {
  const tag = { name: 'refs/tags/v1.1.0', oid: TAG, peeled: COMMIT };
  const refs = (oid: string | undefined) =>
    oid === undefined ? [] : [tag, { name: BRANCH, oid, peeled: null }];
  const recorded = new RecordedVersions(entries);
  const found = recorded.refsAt('configurations', 'web', { before: refs(before), after: refs(after) });
  return Object.fromEntries(found.map(({ name, oid }) => [name, oid]));
};

describe('the refs at the moment of a backup', () => {
  const begun = [entry('version_published', COMMIT), entry('rollout_started', FIRST)];

  it('have the rollout as its last entry says', () => {
    expect(refsAt([entry('rollout_moved', { from: FIRST, to: SECOND })], FIRST, THIRD)).to.deep.include({
      [BRANCH]: SECOND,
    });
    expect(refsAt([], FIRST, SECOND)).to.deep.include({ [BRANCH]: FIRST });
    expect(refsAt(begun, undefined, SECOND)).to.deep.equal({ [BRANCH]: FIRST, 'refs/tags/v1.1.0': TAG });
  });

  it('have the withdrawal of a parameter file, in its own series alone', () => {
    const tag = (name: string, oid: string) => ({ name: `refs/tags/${name}`, oid, peeled: COMMIT });
    const versions = [tag('Site/a/v1.1.0', TAG), tag('Site/b/v1.1.0', THIRD)];
    const withdrawal = tag('withdrawn/Site/a/v1.1.0', FIRST);
    const told = (what: string) => ({
      resourceId: 'web',
      action: `parameters.${what}`,
      details: JSON.stringify({ version: '1.1.0', scopeType: 'Site', scopeValue: 'a', commit: COMMIT }),
    });
    const found = (what: string, before: readonly PackedRef[], after: readonly PackedRef[]) =>
      new RecordedVersions([told('version_published'), told(what)]).refsAt('parameters', 'web', {
        before,
        after,
      });
    const both = [...versions, withdrawal];
    expect(found('version_withdrawn', versions, both)).to.have.deep.members(both);
    expect(found('version_offered_again', versions, both)).to.have.deep.members(versions);
    expect(found('version_deleted', both, versions.slice(1))).to.deep.equal(versions.slice(1));
  });

  it('have neither a version nor its rollout where both came later, or are gone', () => {
    expect(refsAt([], undefined, FIRST)).to.deep.equal({});
    expect(refsAt([...begun, entry('version_deleted', COMMIT)], FIRST, undefined)).to.deep.equal({});
  });
});
