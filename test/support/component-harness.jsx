/** Shows one component of the console on an empty page. Tests call `show` and read `told`. */

import { render } from 'preact';
import { useState } from 'preact/hooks';
import { diffOfTexts } from '../../src/ui/components/diff/texts.ts';
import { DiffFile } from '../../src/ui/components/diff-file.tsx';
import { DiffTable } from '../../src/ui/components/diff-table.tsx';
import { Editor } from '../../src/ui/components/editor.tsx';

/** What the components told: the texts of the editor, and how often it was to be saved. */
const told = { texts: [], saves: 0, more: 0 };

function HeldEditor(properties) {
  const [text, setText] = useState(properties.text);
  globalThis.setText = setText;
  return (
    <>
      <button type="button">Before</button>
      <Editor
        {...properties}
        text={text}
        onChange={(next) => {
          told.texts.push(next);
          setText(next);
        }}
        onSave={() => {
          told.saves += 1;
        }}
      />
      <button type="button">After</button>
    </>
  );
}

function AskingDiffTable(properties) {
  const onMore = () => {
    told.more += 1;
  };
  return <DiffTable {...properties} onMore={properties.asks ? onMore : undefined} />;
}

const COMPONENTS = { Editor: HeldEditor, DiffTable: AskingDiffTable, DiffFile };

function show(name, properties) {
  const Component = COMPONENTS[name];
  const root = document.getElementById('root');
  render(Component === undefined ? null : <Component key={properties.path} {...properties} />, root);
}

Object.assign(globalThis, { show, told, diffOfTexts });
