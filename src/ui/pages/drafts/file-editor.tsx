/** One file of a draft in the editor: typing, saving, and what happens when somebody else saves it too. */

import { useEffect, useRef, useState } from 'preact/hooks';
import { type ApiProblem, send } from '../../client.ts';
import { useDeed } from '../../components/dialog.tsx';
import { Editor, type EditorLanguage } from '../../components/editor.tsx';
import { Mark } from '../../components/marks.tsx';
import { Skeleton } from '../../components/page.tsx';
import { Problem } from '../../components/problem.tsx';
import { marksOf, useVerdict, type Verdict } from '../../components/use-verdict.ts';
import { VerdictPart } from '../../components/verdict.tsx';
import { refresh } from '../../resource.ts';
import { Conflict } from './conflict.tsx';
import { type ReadFile, useFileText } from './file-text.ts';
import { keepUnsaved, type UnsavedFiles } from './unsaved.ts';

interface EditorProps {
  path: string;
  /** The address of the file below /api/v1. */
  address: string;
  unsaved: UnsavedFiles;
  /** Why it cannot be changed; null if it can. */
  reason: string | null;
  /** The address where its text is checked; null of a file that is not checked. */
  checkedAt: string | null;
}

/** A file that is text. `key` it by its path: each file has a state of its own. */
export function FileEditor({ path, address, unsaved, reason, checkedAt }: EditorProps) {
  const read = useFileText(address);
  const draft = useUnsaved({ path, address, unsaved, read });
  const { deed, text } = draft;
  const isChecked = checkedAt !== null && text !== null;
  // The server tries JSON first, whatever the type says, as dsc does.
  const asked = { type: 'application/yaml', member: 'findings' } as const;
  const verdict = useVerdict(isChecked ? { ...asked, url: checkedAt, text } : null);
  useSaveKey(reason === null ? draft.save : null);
  if (text === null) return <NoText read={read} />;
  if (draft.isComparing && draft.mine !== null)
    return (
      <Conflict
        path={path}
        problem={draft.conflict}
        theirs={read.file}
        mine={draft.mine}
        onTakeTheirs={draft.takeTheirs}
        onKeepMine={draft.keepMine}
        onGoOn={draft.goOn}
      />
    );
  return (
    <div class="part">
      {draft.isOvertaken && (
        <p class="warning" role="status">
          Somebody has {read.file === null ? 'deleted' : 'changed'} this file since you began to type.{' '}
          <button type="button" class="small" onClick={draft.compare}>
            Show both
          </button>
        </p>
      )}
      <Editor
        path={path}
        text={text}
        language={languageOf(path)}
        problems={marksOf(verdict?.faults ?? [])}
        isReadOnly={reason !== null}
        schema={null}
        onChange={draft.type}
        onSave={draft.save}
      />
      {isChecked && <DocumentVerdict {...{ path, verdict }} />}
      {deed.problem !== null && <Problem problem={deed.problem} />}
      <p class="deed">
        <button
          type="button"
          class="primary"
          disabled={deed.isBusy || reason !== null}
          aria-busy={deed.isBusy}
          onClick={draft.save}
        >
          Save
        </button>
        {reason === null ? <SaveState isChanged={draft.mine !== null} /> : <span class="hint">{reason}</span>}
      </p>
    </div>
  );
}

/** The server names the entry point of the highest version, which may be another one. */
function DocumentVerdict({ path: file, verdict }: { path: string; verdict: Verdict | null }) {
  return (
    <VerdictPart
      verdict={verdict && { ...verdict, faults: verdict.faults.map((fault) => ({ ...fault, file })) }}
      hint="The text is checked while you type, as dsc reads it."
      valid={<Mark word="dsc can read it" tone="good" />}
      code="document_unreadable"
    />
  );
}

function SaveState({ isChanged }: { isChanged: boolean }) {
  return isChanged ? (
    <Mark word="Not saved" tone="warn" />
  ) : (
    <span class="hint">All changes are saved. Ctrl+S saves too.</span>
  );
}

/** The bytes are on their way, cannot be read, or are no text. */
function NoText({ read: { file, resource } }: { read: ReadFile }) {
  if (file !== null)
    return <p>This is a binary file, or text that is not UTF-8. Download it to change it.</p>;
  if (resource.problem !== null)
    return <Problem problem={resource.problem} onRetry={() => void resource.reload()} />;
  return (
    <div aria-busy="true">
      <Skeleton />
    </div>
  );
}

interface Options extends Omit<EditorProps, 'reason' | 'checkedAt'> {
  read: ReadFile;
}

/** What was typed against what is on the server. */
function useUnsaved({ path, address, unsaved, read: { file, resource } }: Options) {
  const mine = unsaved.value.get(path) ?? null;
  const [conflict, setConflict] = useState<ApiProblem | null>(null);
  const [isComparing, setComparing] = useState(false);
  const put = async (text: string, etag: string | null) => {
    const saved = await send('PUT', address, text, { ifMatch: etag, type: 'application/octet-stream' });
    // Somebody may have gone on typing meanwhile.
    const typed = unsaved.value.get(path)?.text ?? text;
    keepUnsaved(unsaved, path, { text: typed, etag: saved.etag });
    await resource.reload();
    return `${path} is saved.`;
  };
  const deed = useDeed(async () => (mine === null ? `${path} has no changes.` : put(mine.text, mine.etag)));
  useEffect(() => {
    // The page says what became of the draft.
    if (deed.problem?.code === 'published_version') void refresh();
    if (deed.problem?.status !== 412) return;
    setConflict(deed.problem);
    setComparing(true);
    void resource.reload();
  }, [deed.problem]);
  const isSaved = mine !== null && mine.etag === file?.etag && mine.text === file?.text;
  useEffect(() => {
    // The text on the server is what was typed, so there is nothing to keep.
    if (isSaved) keepUnsaved(unsaved, path, null);
  }, [isSaved]);
  const close = () => {
    setComparing(false);
    setConflict(null);
    deed.forget();
  };
  return {
    deed,
    conflict,
    isComparing,
    mine: mine?.text ?? null,
    text: mine?.text ?? file?.text ?? null,
    isOvertaken: mine !== null && !deed.isBusy && resource.state !== 'loading' && mine.etag !== resource.etag,
    type: (text: string) => {
      const etag = mine === null ? (file?.etag ?? null) : mine.etag;
      keepUnsaved(unsaved, path, { text, etag });
    },
    save: () => void deed.start(),
    compare: () => setComparing(true),
    goOn: close,
    takeTheirs: () => {
      keepUnsaved(unsaved, path, null);
      close();
    },
    keepMine: async () => {
      const done = await put(mine?.text ?? '', file?.etag ?? null);
      close();
      return done;
    },
  };
}

/** Ctrl+S saves wherever the focus is. The editor takes the key itself where it is in it. */
function useSaveKey(save: (() => void) | null): void {
  const latest = useRef(save);
  latest.current = save;
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      const isSave = event.key.toLowerCase() === 's' && (event.ctrlKey || event.metaKey) && !event.altKey;
      if (!isSave || event.defaultPrevented || latest.current === null) return;
      event.preventDefault();
      latest.current();
    };
    window.addEventListener('keydown', press);
    return () => window.removeEventListener('keydown', press);
  }, []);
}

function languageOf(path: string): EditorLanguage {
  if (/\.ya?ml$/i.test(path)) return 'yaml';
  return /\.json$/i.test(path) ? 'json' : 'text';
}
