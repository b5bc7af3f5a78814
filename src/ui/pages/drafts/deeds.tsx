/** Dialogs of a draft: a new file, and what takes something away. */

import { useState } from 'preact/hooks';
import { send } from '../../client.ts';
import * as deletions from '../../components/deletions.tsx';
import { DeedDialog } from '../../components/dialog.tsx';
import { Field } from '../../components/field.tsx';
import { apiOf, links } from '../../links.ts';
import { usePlace } from '../../router.ts';
import type { VersionDetails } from '../../types.ts';
import { keepUnsaved, type UnsavedFiles } from './unsaved.ts';

interface DeedProps {
  name: string;
  draft: VersionDetails;
  onClose: () => void;
}

/** The address of a file of a draft below /api/v1. */
export function fileAddress(name: string, version: string, path: string): string {
  return apiOf('configurations', name, 'versions', version, 'files', ...path.split('/'));
}

/** An empty file, which then opens. */
export function NewFileDialog({ name, draft, onClose }: DeedProps) {
  const place = usePlace();
  const [path, setPath] = useState('');
  const isThere = draft.files.some((file) => file.path === path);
  const run = async () => {
    await send('PUT', fileAddress(name, draft.version, path), '', { type: 'application/octet-stream' });
    place.setQuery({ file: path });
    return `${path} is there. It is empty.`;
  };
  return (
    <DeedDialog
      heading="New file"
      deed="Create"
      run={run}
      onClose={onClose}
      isDisabled={path === '' || isThere}
    >
      {(problem) => (
        <Field
          label="Path"
          name="path"
          hint={isThere ? 'The draft has this file already.' : 'With folders, such as modules/logs.dsc.yaml.'}
          required
          autocomplete="off"
          value={path}
          onInput={(text) => setPath(text.trim())}
          problem={problem}
        />
      )}
    </DeedDialog>
  );
}

interface DeleteFileProps extends DeedProps {
  path: string;
  unsaved: UnsavedFiles;
}

export function DeleteFileDialog({ name, draft, path, unsaved, onClose }: DeleteFileProps) {
  const place = usePlace();
  const run = async () => {
    await send('DELETE', fileAddress(name, draft.version, path));
    keepUnsaved(unsaved, path, null);
    place.setQuery({ file: null });
    return `${path} is deleted.`;
  };
  return (
    <DeedDialog heading={`Delete ${path}`} deed="Delete file" isDanger run={run} onClose={onClose}>
      <p>The file goes from this draft. Published versions keep it.</p>
      {unsaved.value.has(path) && <p class="warning">What you have typed into it and not saved goes too.</p>}
    </DeedDialog>
  );
}

interface DeleteDraftProps extends DeedProps {
  /** That of the draft that is shown. */
  etag: string | null;
  unsaved: UnsavedFiles;
}

export function DeleteDraftDialog({ name, draft: { version }, etag, unsaved, onClose }: DeleteDraftProps) {
  const place = usePlace();
  const leave = () => {
    unsaved.value = new Map();
    place.go(links.named('configurations', name));
  };
  return (
    <deletions.DeleteDraftDialog
      {...{ kind: 'configurations', name, version, etag, onClose }}
      onDeleted={leave}
    />
  );
}
