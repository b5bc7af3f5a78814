/** Where files are chosen or dropped, whole folders too. */

import type { TargetedEvent } from 'preact';
import { useId, useState } from 'preact/hooks';
import { type ChosenFile, filesOfDrop, filesOfInput, merged } from '../chosen-files.ts';
import { Num } from './num.tsx';
import { Size } from './size.tsx';

/** So many paths are listed; the others are counted. */
const LISTED = 100;

interface Props {
  files: readonly ChosenFile[];
  onChange: (files: ChosenFile[]) => void;
  /** What happens if nothing is chosen. */
  hint: string;
}

export function FilesField({ files, onChange, hint }: Props) {
  const id = useId();
  const [isOver, setOver] = useState(false);
  const add = (added: readonly ChosenFile[]) => onChange(merged(files, added));
  return (
    <fieldset
      class={`drop ${isOver ? 'over' : ''}`}
      aria-describedby={`${id}-hint`}
      onDragOver={(event) => {
        event.preventDefault();
        setOver(true);
      }}
      onDragLeave={() => setOver(false)}
      onDrop={(event) => {
        event.preventDefault();
        setOver(false);
        if (event.dataTransfer !== null) void filesOfDrop(event.dataTransfer).then(add);
      }}
    >
      <legend>Files</legend>
      <p>Drop files or a folder here, or choose them:</p>
      <div class="bar">
        <Chooser label="Choose files" onChoose={add} />
        <Chooser label="Choose a folder" isFolder onChoose={add} />
      </div>
      {files.length === 0 ? (
        <p id={`${id}-hint`} class="hint">
          {hint}
        </p>
      ) : (
        <Chosen files={files} id={`${id}-hint`} onChange={onChange} />
      )}
    </fieldset>
  );
}

interface ChooserProps {
  label: string;
  isFolder?: boolean;
  onChoose: (files: ChosenFile[]) => void;
}

function Chooser({ label, isFolder = false, onChoose }: ChooserProps) {
  const id = useId();
  const choose = ({ currentTarget }: TargetedEvent<HTMLInputElement>) => {
    if (currentTarget.files !== null) onChoose(filesOfInput(currentTarget.files));
    // The same file can be chosen again after it was taken out.
    currentTarget.value = '';
  };
  return (
    <span class="button chooser">
      <label for={id}>{label}</label>
      <input id={id} type="file" multiple {...(isFolder && { webkitdirectory: true })} onChange={choose} />
    </span>
  );
}

function Chosen({ files, id, onChange }: Omit<Props, 'hint'> & { id: string }) {
  const size = files.reduce((sum, { file }) => sum + file.size, 0);
  return (
    <>
      <p id={id} role="status">
        <Num value={files.length} /> {files.length === 1 ? 'file' : 'files'}, <Size bytes={size} />{' '}
        <button type="button" class="quiet small" onClick={() => onChange([])}>
          Take all out
        </button>
      </p>
      <ul class="chosen-files">
        {files.slice(0, LISTED).map(({ path }) => (
          <li key={path}>
            <code>{path}</code>
            <button
              type="button"
              class="quiet small"
              onClick={() => onChange(files.filter((other) => other.path !== path))}
            >
              <span aria-hidden="true">×</span>
              <span class="visually-hidden">Take out {path}</span>
            </button>
          </li>
        ))}
        {files.length > LISTED && (
          <li>
            and <Num value={files.length - LISTED} /> more
          </li>
        )}
      </ul>
    </>
  );
}
