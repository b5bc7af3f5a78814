import { expect } from 'chai';
import { changedFiles, type ListedFile } from '../../../src/domain/file-changes.ts';

/** A list from lines such as `path content` or `path content x`. */
const list = (...lines: string[]): ListedFile[] =>
  lines.map((line) => {
    const [path = '', oid = '', executable] = line.split(' ');
    return { path, oid, executable: executable === 'x' };
  });

const brief = (before: ListedFile[], after: ListedFile[]) =>
  changedFiles(before, after).map(({ path, previousPath, change }) =>
    previousPath === null ? `${change} ${path}` : `${change} ${previousPath} > ${path}`,
  );

describe('the files that differ between two lists', () => {
  it('are none where both lists are the same', () => {
    expect(brief(list('a 1', 'b 2 x'), list('a 1', 'b 2 x'))).to.deep.equal([]);
  });

  it('stand in the order of the bytes of their paths', () => {
    const before = list('B 4', '\uff5e 2');
    const after = list('a 3', '\u{1f600} 1');
    const changes = ['Removed B', 'Added a', 'Removed \uff5e', 'Added \u{1f600}'];
    expect(brief(before, after)).to.deep.equal(changes);
  });

  it('are renamed where the bytes are the same, with another mode too, and empty ones as well', () => {
    const before = list('a 1', 'e 0', 'gone 9');
    const after = list('b 1 x', 'f 0', 'new 8');
    expect(brief(before, after)).to.deep.equal([
      'Renamed a > b',
      'Renamed e > f',
      'Removed gone',
      'Added new',
    ]);
  });

  it('are paired in the order of paths, each once', () => {
    const before = list('a 1', 'b 1', 'c 1');
    expect(brief(before, list('y 1', 'z 1'))).to.deep.equal(['Removed c', 'Renamed a > y', 'Renamed b > z']);
    expect(brief(list('a 1'), list('x 1', 'y 1'))).to.deep.equal(['Renamed a > x', 'Added y']);
  });

  it('are modified where files swapped their names, or a copy took the place of another', () => {
    expect(brief(list('a 1', 'b 2'), list('a 2', 'b 1'))).to.deep.equal(['Modified a', 'Modified b']);
    expect(brief(list('a 1', 'b 2'), list('b 1'))).to.deep.equal(['Removed a', 'Modified b']);
    expect(brief(list('a 1'), list('a 1', 'b 1'))).to.deep.equal(['Added b']);
    expect(brief(list('a 1'), list('a 1 x'))).to.deep.equal(['Modified a']);
  });
});
