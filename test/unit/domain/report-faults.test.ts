import { expect } from 'chai';
import { faultsOf } from '../../../src/domain/report-faults.ts';

const leaf = (name: string, inDesiredState: unknown, differingProperties?: unknown) => ({
  ...{ name, type: 'T/Leaf' },
  result: { inDesiredState, differingProperties },
});
const group = (...members: unknown[]) => ({ name: 'g', type: 'Microsoft.DSC/Group', result: members });
const message = (level: string, text: unknown, name: unknown = 'one') => ({
  ...{ name, type: 'T/Leaf', level },
  message: text,
});
const drift = (name: string, text: string) => ({ resource: { type: 'T/Leaf', name }, message: text });

describe('what is wrong in a report', () => {
  it('is nothing where nothing is said, or all is well', () => {
    const well = { outOfState: 0, firstFault: null };
    for (const result of [
      ...[{}, { results: null, messages: null }, { results: [leaf('a', true), group(leaf('b', true))] }],
      { results: [leaf('a', 'false'), { result: 7 }, group()], messages: 'none' },
      { messages: [message('warning', 'only that'), message('error', ''), message('error', 7), null] },
    ])
      expect(faultsOf(result)).to.deep.equal(well);
  });

  it('is the first error message, in any case of its level, before what is out of its state', () => {
    const messages = [
      message('Warning', 'w'),
      message('eRROR', 'Access is denied.', 'two'),
      message('Error', 'x'),
    ];
    expect(faultsOf({ results: [leaf('a', false, ['p'])], messages })).to.deep.equal({
      ...{ outOfState: 1, firstFault: drift('two', 'Access is denied.') },
    });
    const unnamed = [{ level: 'Error', message: 'dsc is not there', name: 7 }];
    expect(faultsOf({ messages: unnamed }).firstFault).to.deep.equal({
      ...{ resource: null, message: 'dsc is not there' },
    });
  });

  it('is the first resource out of its state, with what differs; groups count by their members, in their order', () => {
    const results = [
      leaf('a', true),
      group(leaf('b', true), group(leaf('c', false, ['mode', 7, 'owner']))),
      leaf('d', false),
    ];
    expect(faultsOf({ results })).to.deep.equal({
      outOfState: 2,
      firstFault: drift('c', 'differs in mode, owner'),
    });
    expect(faultsOf({ results: [leaf('d', false, [])] }).firstFault).to.deep.equal(
      drift('d', 'not in its desired state'),
    );
  });

  it('is cut where it is long, and found however deep it is', () => {
    let deep: unknown = leaf('n'.repeat(300), false, ['p'.repeat(9_000)]);
    for (let depth = 0; depth < 100_000; depth += 1) deep = group(deep);
    const { outOfState, firstFault } = faultsOf({ results: [deep] });
    expect(outOfState).to.equal(1);
    expect(firstFault?.resource?.name).to.equal(`${'n'.repeat(255)}…`);
    const long = faultsOf({ messages: [message('error', '\u{1f600}'.repeat(600))] }).firstFault?.message;
    expect(long).to.equal(`${'\u{1f600}'.repeat(499)}…`);
  });
});
