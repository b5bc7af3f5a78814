import { json } from '@codemirror/lang-json';
import { syntaxTree } from '@codemirror/language';
import { EditorState } from '@codemirror/state';
import { expect } from 'chai';
import { placeInJson } from '../../../src/ui/components/editor/place-in-json.ts';
import { treeUntil } from '../../../src/ui/components/editor/pointer.ts';

describe('the syntax tree of an editor', () => {
  it('reaches to the place that is asked for, also where the editor has not parsed that far', () => {
    const lines = Array.from(
      { length: 60_000 },
      (_, index) => `    "member${index}": [${index}, true, null],`,
    );
    const doc = ['{', '  "parameters": {', ...lines, '    "level": ', '  }', '}'].join('\n');
    const state = EditorState.create({ doc, extensions: [json()] });
    const position = doc.lastIndexOf('"level": ') + '"level": '.length;
    expect(syntaxTree(state).length).to.be.below(position);
    const place = placeInJson(state, treeUntil(state, position, 60_000), position);
    expect(place).to.deep.include({ path: ['parameters'], key: 'level', at: 'value' });
  });
});
