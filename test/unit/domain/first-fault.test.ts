import { expect } from 'chai';
import { firstFault } from '../../../src/domain/first-fault.ts';

const resource = (name: string, inDesiredState: boolean | undefined, differingProperties: string[] = []) => ({
  ...{ name, type: 'Microsoft.Windows/Service' },
  result: { inDesiredState, differingProperties },
});

describe('what is wrong by a report', () => {
  const cases: [what: string, result: unknown, fault: string | null][] = [
    ['nothing', { hadErrors: false, messages: [], results: [resource('a', true)] }, null],
    [
      'the first error before anything else',
      {
        messages: [
          { level: 'Warning', message: 'careful' },
          { level: 'Error', message: 'Access is denied.' },
          { level: 'Error', message: 'later' },
        ],
        results: [resource('a', false)],
      },
      'Access is denied.',
    ],
    [
      'the first resource out of its state, with what differs',
      { results: [resource('a', true), resource('b', false, ['state', 'startType']), resource('c', false)] },
      'Microsoft.Windows/Service "b" is not in its desired state: state, startType',
    ],
    [
      'a resource in a group, before those behind it',
      { results: [{ name: 'g', type: 'Group', result: [resource('inner', false)] }, resource('z', false)] },
      'Microsoft.Windows/Service "inner" is not in its desired state',
    ],
    ['nothing of what is no result', 'text', null],
    ['nothing of strange members', { messages: 1, results: [null, 7, { result: null }] }, null],
  ];
  for (const [what, result, fault] of cases)
    it(`is ${what}`, () => {
      expect(firstFault(JSON.stringify(result))).to.equal(fault);
    });

  it('is nothing of a text that is no JSON', () => {
    expect(firstFault('{')).to.equal(null);
  });

  it('is found however deep groups are nested', () => {
    const depth = 20_000;
    const open = '{"name":"g","type":"G","result":['.repeat(depth);
    const text = `{"results":[${open}${JSON.stringify(resource('deep', false))}${']}'.repeat(depth)}]}`;
    expect(firstFault(text)).to.include('"deep"');
  });
});
