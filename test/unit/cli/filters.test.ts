import { expect } from 'chai';
import { UsageError } from '../../../src/cli/errors.ts';
import { applyFilters } from '../../../src/cli/filters.ts';

describe('the filters of lists', () => {
  const items = [
    { name: 'web', version: '1.0.0', note: null },
    { name: 'Web-farm', version: '1.1.0', note: 'a=b' },
    { name: 'db', version: '1.0.0', note: 'x.y' },
  ];
  const names = (...filters: string[]) => applyFilters(items, filters).map(({ name }) => name);

  it('take values, and * for any text', () => {
    expect(names('name=WEB')).to.deep.equal(['web']);
    expect(names('name=web*')).to.deep.equal(['web', 'Web-farm']);
    expect(names('name=web*', 'version=1.0.0')).to.deep.equal(['web']);
    expect(names('note=null')).to.deep.equal(['web']);
    expect(names('note=a=b')).to.deep.equal(['Web-farm']);
    expect(names('note=x?y')).to.deep.equal([]);
  });

  it('refuse what is no pair, and what no item has', () => {
    expect(() => names('name')).to.throw(UsageError, '--filter is written as name=value.');
    expect(() => names('nam=web')).to.throw(UsageError, 'there is no member "nam", but name, version, note.');
  });
});
