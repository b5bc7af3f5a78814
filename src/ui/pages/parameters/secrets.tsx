/** The secrets of a parameter file: which there are, and a way to set each without typing it into the text. */

import { useEffect, useState } from 'preact/hooks';
import { ApiProblem, send } from '../../client.ts';
import { DeedDialog } from '../../components/dialog.tsx';
import type { Leaf } from '../../components/editor/secret-leaves.ts';
import type { DocumentSchema } from '../../components/editor/settings.ts';
import { Field, FileField } from '../../components/field.tsx';
import { Mark } from '../../components/marks.tsx';
import { HiddenUsername } from '../../components/password-fields.tsx';
import { Dots, RevealButton } from '../../components/secret.tsx';
import { type Column, SimpleTable } from '../../components/table.tsx';
import { SEALED, sealedName } from '../../sealed.ts';
import { can } from '../../session.ts';
import { type FileData, type FileName, versionPath } from './file-data.ts';
import { parametersOf } from './schema.ts';
import type { Draft } from './use-draft.ts';

/** The text is looked at so many milliseconds after the last key. */
const PAUSE = 200;
/** So many characters are looked at. A longer text would hold up whoever types. */
const LONGEST = 500_000;

interface SecretRow {
  /** JSON Pointer from the root of the document. */
  pointer: string;
  /** `Passed` stands for a text that the node replaces by what is stored elsewhere; an `Object` takes members. */
  state: 'Sealed' | 'Clear' | 'Passed' | 'Unset' | 'Object';
  text: string;
  /** Empty for what is not encrypted. */
  keyId: string;
}

const WHOLE = new RegExp(`^${SEALED.source}$`);
const PASSED = /^\[(?:secret|envvar)\(.*\)\]$/;
const BLOCK = '/parameters/';

interface SecretsProps {
  named: FileName;
  data: FileData;
  text: string;
  isJson: boolean;
  /** The version that is stored, with its text; null where none is. */
  stored: { version: string; text: string } | null;
  /** Null where nothing can be changed. */
  draft: Draft | null;
}

/** A table of all secrets; nothing where the file has none and may have none. */
export function SecretsPart({ named, data, text, isJson, stored, draft }: SecretsProps) {
  const leaves = useLeaves(text, isJson);
  const [asked, ask] = useState<SecretRow | null>(null);
  const { path } = data;
  if (leaves === 'unknown') return <p class="muted">{UNLISTED}</p>;
  const rows = leaves === null ? [] : secretRows(leaves, data.schema.data, draft !== null);
  if (rows.length === 0 || path === null) return null;
  const actions: Column<SecretRow> = {
    label: 'Actions',
    cell: (row) => (
      <span class="secret-deeds">
        {draft !== null && (
          <button type="button" class="small" onClick={() => ask(row)}>
            {deedOf(row)}
            <span class="visually-hidden"> {row.pointer}</span>
          </button>
        )}
        {row.state === 'Sealed' && stored?.text.includes(row.text) && (
          <RevealButton
            version={versionPath(path, { version: stored.version, scopeValue: null })}
            scopeValue={named.scopeValue}
            pointer={row.pointer}
          />
        )}
      </span>
    ),
  };
  return (
    <section class="part">
      <h2>Secrets</h2>
      <SimpleTable
        name="Secrets"
        rows={rows}
        keyOf={({ pointer, state }) => `${pointer} ${state}`}
        columns={[
          {
            label: 'Parameter',
            isName: true,
            isLong: true,
            cell: ({ pointer }) => <code>{pointer}</code>,
          },
          { label: 'State', cell: (row) => <State row={row} isSaved={draft === null} /> },
          ...(draft === null && !can('secrets.reveal') ? [] : [actions]),
        ]}
      />
      {asked !== null && draft !== null && (
        <SetDialog {...{ named, path, draft }} row={asked} onClose={() => ask(null)} />
      )}
    </section>
  );
}

type Leaves = readonly Leaf[] | 'unknown' | null;

const UNLISTED =
  'The secrets of this file cannot be listed here. "hawserctl param set --secret" sets one, and "hawserctl secret reveal" shows one.';

/** All leaves of the text; null until they are found, `unknown` where it is too long or their program cannot be loaded. */
function useLeaves(text: string, isJson: boolean): Leaves {
  const [leaves, setLeaves] = useState<Leaves>(null);
  useEffect(() => {
    let isOver = false;
    const look = async () => {
      const { leavesOf } = await import('../../components/editor/secret-leaves.ts');
      if (!isOver) setLeaves(text.length > LONGEST ? 'unknown' : leavesOf({ text, isJson }));
    };
    const timer = setTimeout(
      () => void look().catch(() => !isOver && setLeaves('unknown')),
      leaves === null ? 0 : PAUSE,
    );
    return () => {
      isOver = true;
      clearTimeout(timer);
    };
  }, [text, isJson]);
  return leaves;
}

/**
 * The leaves that are encrypted or that the schema calls secure.
 * @param hasUnset whether parameters without a value are listed too
 */
function secretRows(leaves: readonly Leaf[], schema: DocumentSchema | null, hasUnset: boolean): SecretRow[] {
  const secure = schema === null ? [] : parametersOf(schema).filter(({ isSecure }) => isSecure);
  const declared = new Map(secure.map(({ name, type }) => [`${BLOCK}${escaped(name)}`, type === 'object']));
  const rows = leaves.flatMap((leaf): SecretRow[] => {
    const { pointer, text, isItem } = leaf;
    const keyId = WHOLE.exec(text)?.[1] ?? '';
    if (keyId !== '') return [{ pointer, state: 'Sealed', text, keyId }];
    const name = pointer.split('/', 3).join('/');
    if (isItem || !declared.has(name) || text === '') return [];
    if (declared.get(pointer)) return [];
    return [{ pointer, state: PASSED.test(text) ? 'Passed' : 'Clear', text, keyId }];
  });
  if (!hasUnset) return rows;
  const isThere = new Set(rows.map(({ pointer }) => pointer));
  const missing = [...declared].flatMap(([pointer, isObject]): SecretRow[] =>
    isThere.has(pointer) ? [] : [{ pointer, state: isObject ? 'Object' : 'Unset', text: '', keyId: '' }],
  );
  return [...rows, ...missing];
}

const deedOf = ({ state }: SecretRow) =>
  state === 'Object' ? 'Add member' : state === 'Unset' ? 'Set' : 'Replace';

function State({ row: { state, keyId }, isSaved }: { row: SecretRow; isSaved: boolean }) {
  if (state === 'Sealed')
    return (
      <>
        <Dots name={sealedName(keyId)} /> A secret is set
      </>
    );
  if (state === 'Unset') return <span class="muted">Not set</span>;
  if (state === 'Object') return <span class="muted">Each of its members is a secret</span>;
  if (state === 'Passed') return <span>Comes from a vault or a variable of the node</span>;
  return (
    <>
      <Mark word="In the clear" tone="warn" />{' '}
      {isSaved ? 'It was stored before secrets were encrypted.' : 'It is encrypted when you save.'}
    </>
  );
}

interface SetProps {
  named: FileName;
  path: string;
  row: SecretRow;
  draft: Draft;
  onClose: () => void;
}

/** Takes the value once. The server encrypts it, and only what comes back is put into the text. */
function SetDialog({ named, path, row, draft, onClose }: SetProps) {
  const [value, setValue] = useState('');
  const [file, setFile] = useState<File | null>(null);
  const [member, setMember] = useState('');
  const hasMember = row.state === 'Object';
  const pointer = hasMember ? `${row.pointer}/${escaped(member.trim())}` : row.pointer;
  const deed = deedOf(row);
  const run = async () => {
    const body = { scopeValue: named.scopeValue, path: pointer, value: file ? await textOf(file) : value };
    const { data } = await send<{ text: string }>('POST', `${path}/encrypt`, body);
    const { withText } = await import('../../components/editor/secret-leaves.ts');
    const text = withText(draft, pointer, data.text);
    if (text === null) throw new ApiProblem(0, { code: 'no_place', detail: NO_PLACE });
    draft.change({ text });
    return `${pointer} is in the text, encrypted. Save to keep it.`;
  };
  return (
    <DeedDialog
      heading={hasMember ? `Add a member to ${row.pointer}` : `${deed} ${row.pointer}`}
      deed={deed}
      run={run}
      onClose={onClose}
    >
      {(problem) => (
        <>
          {hasMember && (
            <Field
              label="Member"
              name="path"
              hint="Its name. If it is there already, its value is replaced."
              required
              autocomplete="off"
              value={member}
              onInput={setMember}
              problem={problem}
            />
          )}
          <HiddenUsername username={`${named.name} ${pointer}`} />
          <Field
            label="Value"
            name="value"
            type="password"
            autocomplete="new-password"
            hint="It is encrypted at once, and shown to nobody afterwards who may not reveal it."
            required={file === null}
            disabled={file !== null}
            value={value}
            onInput={setValue}
            problem={problem}
          />
          <FileField label="Or the text of a file, such as a private key" name="file" onChange={setFile} />
        </>
      )}
    </DeedDialog>
  );
}

const NO_PLACE =
  'There is no place for it that is surely right. Write the name of the parameter with an empty value into the text first.';

const escaped = (name: string) => name.replaceAll('~', '~0').replaceAll('/', '~1');

async function textOf(file: File): Promise<string> {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(await file.arrayBuffer());
  } catch {
    throw new ApiProblem(0, { code: 'no_text', detail: 'The file cannot be read as a text in UTF-8.' });
  }
}
