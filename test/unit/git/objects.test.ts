import { execFileSync } from 'node:child_process';
import { expect } from 'chai';
import { printCommit, printTag } from '../../../src/git/printed-objects.ts';
import { temporaryFolder } from '../../support/temporary.ts';

const EMPTY_TREE = '4b825dc642cb6eb9a060e54bf8d69288fbee4904';

describe('commits and tags as text', () => {
  const gitdir = temporaryFolder('all tests');
  const git = (args: readonly string[], input = '') =>
    execFileSync('git', ['--git-dir', gitdir(), ...args], { input, encoding: 'utf8' }).trim();
  /** Refused by git where it is malformed. */
  const store = (type: string, text: string) => git(['hash-object', '-w', '-t', type, '--stdin'], text);
  const at = (timezoneOffset: number) => {
    return { name: 'Zoë', email: 'zoe@example.org', timestamp: 1_700_000_000, timezoneOffset };
  };

  before(() => {
    execFileSync('git', ['init', '-q', '--bare', gitdir()]);
    store('tree', '');
  });

  for (const [offset, written] of [
    [0, '+0000'],
    [-330, '+0530'],
    [210, '-0330'],
    [-840, '+1400'],
    [-0, '-0000'],
  ] as const) {
    it(`gives git a time of the zone ${written}`, () => {
      const author = at(offset);
      const text = printCommit({ tree: EMPTY_TREE, parent: [], author, committer: at(0), message: 'x' });
      const oid = store('commit', text);
      expect(git(['cat-file', 'commit', oid])).to.match(
        new RegExp(`^author Zoë .* 1700000000 \\${written}$`, 'm'),
      );
      expect(git(['show', '-s', '--format=%an|%at|%ct', oid])).to.equal('Zoë|1700000000|1700000000');
    });
  }

  it('name every parent, and end their message with one line feed', () => {
    const people = { author: at(0), committer: at(0) };
    const first = store('commit', printCommit({ tree: EMPTY_TREE, parent: [], ...people, message: 'a' }));
    const message = '\n\nsubject\r\n\nKey: value\n\n\n';
    const text = printCommit({ tree: EMPTY_TREE, parent: [first, first], ...people, message });
    expect(text.endsWith('\n\nsubject\n\nKey: value\n')).to.equal(true);
    const oid = store('commit', text);
    expect(git(['show', '-s', '--format=%P|%(trailers:key=Key,valueonly)', oid])).to.equal(
      `${first} ${first}|value`,
    );
  });

  it('are tags that git takes for annotated ones', () => {
    const commit = { tree: EMPTY_TREE, parent: [], author: at(0), committer: at(0), message: 'a' };
    const object = store('commit', printCommit(commit));
    const tag = { object, type: 'commit', tag: 'v1.0.0', tagger: at(0), message: 'Version 1.0.0' } as const;
    git(['update-ref', 'refs/tags/v1.0.0', store('tag', printTag(tag))]);
    expect(git(['describe', object])).to.equal('v1.0.0');
    expect(git(['for-each-ref', '--format=%(taggername)|%(contents)', 'refs/tags'])).to.equal(
      'Zoë|Version 1.0.0',
    );
    git(['fsck', '--strict']);
  });
});
