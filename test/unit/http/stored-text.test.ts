import { expect } from 'chai';
import { refuseNul } from '../../../src/http/stored-text.ts';
import { faultsBy } from '../../support/failures.ts';

const pathsOf = (body: unknown) => faultsBy(() => refuseNul(body)).map(({ path }) => path);

describe('U+0000 in a body', () => {
  it('is found at any depth, in the order of the body, and in names', () => {
    const body = { 'a/b': ['x', '\0'], c: { d: 'e\0f', '~\0': 1 }, g: 'h' };
    expect(pathsOf(body)).to.deep.equal(['/a~1b/1', '/c/d', '/c/~0\0']);
  });

  it('is not found where there is none', () => {
    for (const body of [{}, [], { a: null, b: 0, c: '\\u0000 \u0001' }, 'text', null, undefined])
      expect(pathsOf(body)).to.deep.equal([]);
  });

  it('may be in passwords, but in nothing else of that name', () => {
    expect(pathsOf({ password: '\0', newPassword: '\0', inner: { password: '\0' } })).to.deep.equal([
      '/inner/password',
    ]);
  });

  it('is found below many levels, and is told a hundred times at most', () => {
    let deep: unknown = '\0';
    for (let depth = 0; depth < 100_000; depth += 1) deep = [deep];
    expect(pathsOf({ deep })).to.have.length(1);
    expect(pathsOf({ many: Array(1_000).fill('\0') })).to.have.length(100);
  });
});
