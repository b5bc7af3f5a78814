/** The files of a draft, and beside them the one that is edited. */

import { useEffect, useRef } from 'preact/hooks';
import { FilesTable } from '../../components/files-table.tsx';
import { Mark } from '../../components/marks.tsx';
import { Size } from '../../components/size.tsx';
import { download } from '../../download.ts';
import { apiOf } from '../../links.ts';
import { changedUrl, usePlace } from '../../router.ts';
import type { VersionDetails } from '../../types.ts';
import { fileAddress } from './deeds.tsx';
import { FileEditor } from './file-editor.tsx';
import { MAX_SIZE } from './file-text.ts';
import type { UnsavedFiles } from './unsaved.ts';

interface FilesProps {
  name: string;
  draft: VersionDetails;
  unsaved: UnsavedFiles;
  /** Why nothing can be changed; null if it can. */
  reason: string | null;
  onDeleteFile: () => void;
}

export function DraftFiles(props: FilesProps) {
  const { draft, unsaved } = props;
  const place = usePlace();
  const path = place.query.get('file');
  const file = draft.files.find((each) => each.path === path);
  // What was typed into a file that is gone can still be seen.
  const isShown = path !== null && (file !== undefined || unsaved.value.has(path));
  return (
    <section class="part">
      <div class="bar">
        <h2>Files</h2>
        {path !== null && <a href={changedUrl(place.path, place.query, { file: null })}>Close the file</a>}
      </div>
      {path !== null && !isShown && (
        <p role="alert" class="alert" data-code="not_found">
          There is no file {path} in this draft.
        </p>
      )}
      <div class={isShown ? 'files-beside' : 'part'}>
        <div class="files-list">
          <FilesTable
            files={draft.files}
            current={isShown ? path : null}
            hrefOf={(to) => changedUrl(place.path, place.query, { file: to })}
            markOf={(each) => unsaved.value.has(each.path) && <Mark word="Not saved" tone="warn" />}
          />
        </div>
        {isShown && <OpenFile key={path} {...props} path={path} size={file?.size ?? 0} />}
      </div>
    </section>
  );
}

interface OpenProps extends FilesProps {
  path: string;
  size: number;
}

function OpenFile({ name, draft, unsaved, reason, onDeleteFile, path, size }: OpenProps) {
  const address = fileAddress(name, draft.version, path);
  // Whoever may change the entry point may ask what is wrong with it.
  const isChecked = path === draft.entryPoint && reason === null;
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    // Whoever opened it by its link goes on in it, and not in the table.
    if (document.activeElement !== document.body && !document.querySelector('dialog[open]'))
      heading.current?.focus();
  }, []);
  return (
    <section class="part file-view" aria-labelledby="file-heading">
      <div class="bar">
        <h2 id="file-heading" ref={heading} tabIndex={-1}>
          {path}
        </h2>
        <span class="muted">
          <Size bytes={size} />
        </span>
        <span class="actions">
          <button type="button" onClick={() => download(address)}>
            Download file
          </button>
          {reason === null && (
            <button type="button" onClick={onDeleteFile}>
              Delete file
            </button>
          )}
        </span>
      </div>
      {size > MAX_SIZE ? (
        <p>
          This file is too large to be changed here: it has more than 1 MiB. Download it, and upload it again.
        </p>
      ) : (
        <FileEditor
          {...{ path, address, unsaved, reason }}
          checkedAt={isChecked ? apiOf('configurations', name, 'check') : null}
        />
      )}
    </section>
  );
}
