import { expect } from 'chai';
import {
  ITEM,
  type Lines,
  placeInYaml,
  type Step,
  siblingKeys,
} from '../../../src/ui/components/editor/place.ts';

/** The place of the sign | in a text. */
function placeOf(marked: string) {
  const [before = ''] = marked.split('|');
  const lines = linesOf(marked.replace('|', ''));
  const number = before.split('\n').length;
  return placeInYaml(lines, number, before.length - before.lastIndexOf('\n') - 1);
}

function linesOf(text: string): Lines {
  const all = text.split('\n');
  return { line: (number) => ({ text: all[number - 1] ?? '' }) };
}

describe('the place of the cursor in YAML', () => {
  const cases: [text: string, path: Step[], key: string | null, at: string, written: string][] = [
    ['par|', [], null, 'key', 'par'],
    ['parameters: |', [], 'parameters', 'value', ''],
    ['parameters:\n  po|', ['parameters'], null, 'key', 'po'],
    ['parameters:\n  port: 8|0', ['parameters'], 'port', 'value', '8'],
    ['parameters:\n  po|rt: 80', ['parameters'], 'port', 'key', 'po'],
    ['a:\n  b:\n    c: 1\n  d|', ['a'], null, 'key', 'd'],
    ['a:\n  b:\n    c: 1\n# remark\n\n    d: |', ['a', 'b'], 'd', 'value', ''],
    ['a:\n  - b: 1\n    c: |', ['a', ITEM], 'c', 'value', ''],
    ['a:\n- b: 1\n- c|', ['a', ITEM], null, 'key', 'c'],
    ['a:\n- b: 1\nc: |', [], 'c', 'value', ''],
    ['a:\n  - - x: 1\n      y: |', ['a', ITEM, ITEM], 'y', 'value', ''],
    ["\"quoted: key\":\n  'it''s': |", ['quoted: key'], "it's", 'value', ''],
    ['__proto__:\n  constructor: |', ['__proto__'], 'constructor', 'value', ''],
    ['a: http://x|', [], 'a', 'value', 'http://x'],
  ];
  for (const [text, path, key, at, written] of cases) {
    it(`is found in ${JSON.stringify(text)}`, () => {
      expect(placeOf(text)).to.include({ key, at, written }).and.to.deep.include({ path });
    });
  }

  it('is none in the indentation of a line', () => {
    expect(placeOf('a:\n |  b: 1')).to.equal(null);
  });

  it('knows the keys beside it, and not those of other mappings', () => {
    const text = 'a:\n  one: 1\n  two:\n    inner: 1\n  |\n  three: 3\nb:\n  four: 4\n';
    expect([...siblingKeys(linesOf(text.replace('|', '')), 9, 5)]).to.have.members(['one', 'two', 'three']);
    const list = '- one: 1\n  two: 2\n- three: 3\n  x\n  four: 4\n- five: 5';
    expect([...siblingKeys(linesOf(list), 6, 4)]).to.have.members(['three', 'four']);
  });
});
