import { expect } from 'chai';
import { summarize } from '../../../src/domain/activity-summary.ts';
import { AUDIT_ACTIONS } from '../../../src/domain/audit-actions.ts';

describe('the sentences of the audit trail', () => {
  it('have no word in braces that stands for nothing, also where the details are lost', () => {
    const texts = Object.keys(AUDIT_ACTIONS).map((action) => summarize(action, null, {}));
    expect(texts.filter((text) => /[{}]/.test(text))).to.deep.equal([]);
  });

  it('repeat names as they are, and tell an action of another release by its own name', () => {
    const details = { version: '1.2.0', what: '{name}' };
    expect(summarize('configuration.rollout_moved', '{version}', details)).to.equal(
      'Rollout of version 1.2.0 of {version}: {name}',
    );
    expect(summarize('node.painted', 'web-01', {})).to.equal('node.painted');
  });
});
