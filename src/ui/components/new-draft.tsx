/** Makes a draft: from another version, or from files; of a composite an empty one. It leads to the new draft. */

import { useState } from 'preact/hooks';
import { type ChosenFile, formOf } from '../chosen-files.ts';
import { send } from '../client.ts';
import { apiOf, type Kind, links } from '../links.ts';
import { usePlace } from '../router.ts';
import { DeedDialog } from './dialog.tsx';
import { Field, SelectField, TextField } from './field.tsx';
import { FilesField } from './files-field.tsx';
import { type AnyVersion, stateOfVersion } from './version-mark.tsx';

const SEMVER = /^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(-[0-9A-Za-z.-]+)?(?:\+.*)?$/;

/** The version that the server would take by itself: the next patch; empty where there is none. */
export function nextPatch(highest: string | null): string {
  const [, major, minor, patch, prerelease] = SEMVER.exec(highest ?? '') ?? [];
  if (patch === undefined) return '';
  return `${major}.${minor}.${prerelease === undefined ? BigInt(patch) + 1n : patch}`;
}

interface Props {
  kind: Kind;
  name: string;
  /** All versions, highest first. */
  versions: readonly Pick<AnyVersion, 'version' | 'status' | 'withdrawn'>[];
  /** The version that is copied. Without it, people choose one, or begin with files. */
  from?: string;
  onClose: () => void;
}

interface Made {
  version: string;
}

/** A dialog; its button is `Create`. */
export function NewDraftDialog({ kind, name, versions, from: given, onClose }: Props) {
  const place = usePlace();
  const usual = versions.find((each) => stateOfVersion(each) === 'Published');
  const [version, setVersion] = useState(nextPatch(versions[0]?.version ?? null) || '1.0.0');
  const [from, setFrom] = useState(given ?? (usual ?? versions[0])?.version ?? '');
  const [message, setMessage] = useState('');
  const [files, setFiles] = useState<ChosenFile[]>([]);
  const run = async () => {
    const made = await post();
    place.go(links.draft(kind, name, made.data.version));
    return `The draft ${made.data.version} is there.`;
  };
  // The API makes drafts of composites without children, from no other version.
  const isEmpty = kind === 'composites';
  const post = () => {
    const path = apiOf(kind, name, 'versions');
    const said = message === '' ? {} : { message };
    if (isEmpty) return send<Made>('POST', path, { version, ...said });
    if (from !== '') return send<Made>('POST', path, { version, from, ...said });
    const { body, type } = formOf({ version, message }, files);
    return send<Made>('POST', path, body, { type });
  };
  return (
    <DeedDialog
      heading={given === undefined ? 'New draft' : `Draft from ${given}`}
      deed="Create"
      run={run}
      onClose={onClose}
      isDisabled={!isEmpty && from === '' && files.length === 0}
    >
      {(problem) => (
        <>
          <Field
            label="Version"
            name="version"
            value={version}
            onInput={setVersion}
            required
            {...(isEmpty && { hint: 'The draft begins without children.' })}
            problem={problem}
          />
          {!isEmpty && given === undefined && (
            <SelectField
              label="Begin with"
              name="from"
              value={from}
              onInput={setFrom}
              choices={[
                ...versions.map((each) => ({ value: each.version, label: `The files of ${each.version}` })),
                { value: '', label: 'Files of my own' },
              ]}
              problem={problem}
            />
          )}
          {!isEmpty && from === '' && (
            <FilesField files={files} onChange={setFiles} hint="At least the entry point is needed." />
          )}
          <TextField
            label="Message"
            name="message"
            value={message}
            onInput={setMessage}
            hint="Why there is a new version. Git keeps it."
            problem={problem}
          />
        </>
      )}
    </DeedDialog>
  );
}
