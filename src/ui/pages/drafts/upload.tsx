/** Uploads files and whole folders into a draft, file by file, or in place of all its files. */

import { useState } from 'preact/hooks';
import { type ChosenFile, formOf } from '../../chosen-files.ts';
import { ApiProblem, send } from '../../client.ts';
import { DeedDialog } from '../../components/dialog.tsx';
import { CheckField } from '../../components/field.tsx';
import { FilesField } from '../../components/files-field.tsx';
import { Progress } from '../../components/progress.tsx';
import { apiOf } from '../../links.ts';
import { refresh } from '../../resource.ts';
import type { VersionDetails } from '../../types.ts';
import { fileAddress } from './deeds.tsx';

interface UploadProps {
  name: string;
  draft: VersionDetails;
  /** What was dropped on the page. */
  dropped: readonly ChosenFile[];
  onClose: () => void;
}

interface Refused {
  path: string;
  problem: ApiProblem;
}

export function UploadDialog({ name, draft, dropped, onClose }: UploadProps) {
  const [files, setFiles] = useState<readonly ChosenFile[]>(dropped);
  const [replacesAll, setReplacesAll] = useState(false);
  const [done, setDone] = useState<number | null>(null);
  const [refused, setRefused] = useState<readonly Refused[]>([]);
  const { version } = draft;
  const run = async () => {
    setRefused([]);
    if (replacesAll) {
      await send('PUT', apiOf('configurations', name, 'versions', version), formOf({}, files));
      return `The draft has these ${files.length} files now.`;
    }
    setDone(0);
    const failed = await uploadEach(name, version, files, setDone);
    setDone(null);
    if (failed.length === 0) return uploaded(files.length);
    // Those that the API took need not be sent again.
    setFiles(files.filter(({ path }) => failed.some((each) => each.path === path)));
    setRefused(failed);
    void refresh();
    throw failedUpload(failed.length, files.length);
  };
  return (
    <DeedDialog
      heading="Upload files"
      deed="Upload"
      isWide
      run={run}
      onClose={onClose}
      isDisabled={files.length === 0}
    >
      <FilesField files={files} onChange={setFiles} hint="Files of the same path are replaced." />
      <CheckField
        label="Replace all files of the draft"
        hint="Files of the draft that are not among these go."
        checked={replacesAll}
        onChange={setReplacesAll}
      />
      {done !== null && <Progress label="Files uploaded" value={done} max={files.length} />}
      {refused.length > 0 && (
        <ul class="faults" aria-label="Files that were refused">
          {refused.map(({ path, problem }) => (
            <li key={path}>
              <code>{path}</code> {problem.detail} <span class="muted">{problem.code}</span>
            </li>
          ))}
        </ul>
      )}
    </DeedDialog>
  );
}

/** One after the other, because each is a commit. One that is refused does not stop the others. */
async function uploadEach(
  name: string,
  version: string,
  files: readonly ChosenFile[],
  tell: (done: number) => void,
): Promise<Refused[]> {
  const refused: Refused[] = [];
  for (const [index, { path, file }] of files.entries()) {
    try {
      await send('PUT', fileAddress(name, version, path), file, { type: 'application/octet-stream' });
    } catch (error) {
      // Without a session or a server, all others would fail alike.
      if (!(error instanceof ApiProblem) || error.status === 401 || error.isAway) throw error;
      refused.push({ path, problem: error });
    }
    tell(index + 1);
  }
  return refused;
}

function uploaded(count: number): string {
  return count === 1 ? 'One file is uploaded.' : `${count} files are uploaded.`;
}

function failedUpload(failed: number, all: number): ApiProblem {
  const detail = `${failed} of ${all} files were refused. The others are uploaded.`;
  return new ApiProblem(0, { code: 'upload_refused', detail });
}
