import { expect } from 'chai';
import { leavesOf, withText } from '../../../src/ui/components/editor/secret-leaves.ts';

const SECRET = 'ENC[996d7ee07bc7b673,AAAA]';
const yaml = (text: string) => ({ text, isJson: false });
const json = (text: string) => ({ text, isJson: true });
const placed = (text: string, pointer: string) => withText(yaml(text), pointer, SECRET);
const placedInJson = (text: string, pointer: string) => withText(json(text), pointer, SECRET);

describe('the leaves of a parameter file', () => {
  it('are its values that have no members, with lists and their items', () => {
    const text = 'parameters:\n  a: "x"\n  b: {}\n  c:\n    - 1\n    - y\n  "d/e": {f: [z]}\n  g:\n';
    expect(leavesOf(yaml(text)).map(({ pointer, text }) => `${pointer} ${text}`)).to.deep.equal([
      '/parameters/a x',
      '/parameters/b {}',
      '/parameters/c - 1\n    - y',
      '/parameters/c/0 1',
      '/parameters/c/1 y',
      '/parameters/d~1e/f [z]',
      '/parameters/d~1e/f/0 z',
      '/parameters/g ',
    ]);
    expect(leavesOf(json('{"parameters": {"a": [1, "x"], "b": {"c": null}}}'))).to.deep.equal([
      { pointer: '/parameters/a', text: '[1, "x"]', isItem: false },
      { pointer: '/parameters/a/0', text: '1', isItem: true },
      { pointer: '/parameters/a/1', text: 'x', isItem: true },
      { pointer: '/parameters/b/c', text: 'null', isItem: false },
    ]);
    expect(leavesOf(yaml(''))).to.deep.equal([]);
  });
});

describe('an encrypted text', () => {
  it('takes the place of a value, and all else stays', () => {
    expect(placed('parameters:\n  a: old # why\n  b: 1\n', '/parameters/a')).to.equal(
      `parameters:\n  a: "${SECRET}" # why\n  b: 1\n`,
    );
    expect(placed('parameters:\n  a: |\n    one\n    two\n  b: 1\n', '/parameters/a')).to.equal(
      `parameters:\n  a: "${SECRET}"\n  b: 1\n`,
    );
    expect(placed('parameters:\n  a:\n  - one\n  b: 1\n', '/parameters/a')).to.equal(
      `parameters:\n  a: "${SECRET}"\n  b: 1\n`,
    );
    expect(placed('parameters:\n  a: # why\n  b: 1\n', '/parameters/a')).to.equal(
      `parameters:\n  a: "${SECRET}" # why\n  b: 1\n`,
    );
    expect(placedInJson('{"parameters": {"a":"old","b":1}}', '/parameters/a')).to.equal(
      `{"parameters": {"a":"${SECRET}","b":1}}`,
    );
  });

  it('becomes the first member where it is not there yet', () => {
    expect(placed('# ours\nparameters: # all\r\n  b: 1\r\n', '/parameters/a')).to.equal(
      `# ours\nparameters: # all\r\n  a: "${SECRET}"\r\n  b: 1\r\n`,
    );
    expect(placed('parameters:\n  # b: 1\n', '/parameters/a')).to.equal(
      `parameters:\n  a: "${SECRET}"\n  # b: 1\n`,
    );
    expect(placed('parameters: {}\n', '/parameters/a')).to.equal(`parameters: {a: "${SECRET}"}\n`);
    expect(placed('parameters:\n    b:\n        c: 1\n', '/parameters/b/a')).to.equal(
      `parameters:\n    b:\n        a: "${SECRET}"\n        c: 1\n`,
    );
    expect(placed('parameters:\n  b: 1\n', '/parameters/a/x y')).to.equal(
      `parameters:\n  a: {"x y": "${SECRET}"}\n  b: 1\n`,
    );
    expect(placed('# nothing', '/parameters/a')).to.equal(`# nothing\nparameters:\n  a: "${SECRET}"\n`);
    expect(placedInJson('{\n  "parameters": {\n    "b": 1\n  }\n}\n', '/parameters/a')).to.equal(
      `{\n  "parameters": {\n    "a": "${SECRET}",\n    "b": 1\n  }\n}\n`,
    );
    expect(placedInJson('{"parameters": {}}', '/parameters/a')).to.equal(
      `{"parameters": {"a": "${SECRET}"}}`,
    );
  });

  it('has no place in what cannot have it', () => {
    expect(placed('parameters:\n  a: 1\n', '/parameters/a/b')).to.equal(null);
    expect(placed('parameters: *shared\n', '/parameters/a')).to.equal(null);
    expect(placed('other: 1\n', '/parameters/a')).to.equal(null);
    expect(placedInJson('', '/parameters/a')).to.equal(null);
  });
});
