/** A draft while somebody writes it: the text, saving it, and what somebody else has saved meanwhile. */

import { useRef, useState } from 'preact/hooks';
import { ApiProblem, get, send } from '../../client.ts';
import { type Deed, useDeed } from '../../components/dialog.tsx';
import { apiPath, withQuery } from '../../links.ts';
import { usePlace } from '../../router.ts';
import type { ParameterContent, ParameterFile } from '../../types.ts';
import { type FileData, type FileName, readSaved, versionPath } from './file-data.ts';
import { MOST, scopeLabel } from './model.ts';
import { type Base, forget, isDirty, type Typed, typedBefore, useKept } from './unsaved.ts';

export interface Draft extends Typed {
  version: string;
  isDirty: boolean;
  /** Somebody else has saved other content. */
  isOld: boolean;
  /** What is saved, where that is not what this page began with. */
  conflict: Saved | null;
  save: Deed;
  change(changes: Partial<Pick<Typed, 'text' | 'isPassthrough' | 'isJson'>>): void;
  setVersion(version: string): void;
  /** Gives up what was typed, for what was read or saved last. */
  discard(): void;
  /** Gives up what was typed, for what is saved now. */
  takeTheirs(): void;
  /** The next save overwrites what is saved now. */
  keepMine(): void;
}

export interface Saved {
  data: ParameterContent;
  etag: string | null;
}

export const isJsonFile = ({ contentType }: Pick<ParameterContent, 'contentType'>) =>
  contentType === 'application/json';

export function baseOf({ data: { content, isPassthrough }, etag }: Saved): Base {
  return { text: content ?? '', isPassthrough, etag };
}

const isSame = (base: Base, other: Base) =>
  base.text === other.text && base.isPassthrough === other.isPassthrough;

/** @param first what it begins with, if nothing was typed before */
export function useDraft(named: FileName, data: FileData, first: Typed): Draft {
  const key = `${named.name} ${scopeLabel(named)} ${named.version} ${named.isNew}`;
  const [typed, setTyped] = useState<Typed>(() => typedBefore(key) ?? first);
  const [version, setVersion] = useState(named.version);
  const [conflict, setConflict] = useState<Saved | null>(null);
  const { base } = typed;
  // What the page reads again and again comes late: it is not news that a draft was another one before.
  const past = useRef(new Set<string | null>());
  useKept(key, typed);
  const now = named.isNew || data.file.data === null ? null : { data: data.file.data, etag: data.file.etag };
  const isOld =
    now !== null && now.etag !== base.etag && !past.current.has(now.etag) && !isSame(baseOf(now), base);
  const rebase = (next: Base, taken: Partial<Typed> = {}) => {
    if (base.etag !== next.etag) past.current.add(base.etag);
    setTyped((before) => ({ ...before, ...taken, base: next }));
  };
  const rebaseSaved = (next: Base, sent: string | undefined) => {
    rebase(next);
    // What was typed while it was being saved stays.
    setTyped((before) => (before.text === sent ? { ...before, text: next.text } : before));
  };
  const save = useSave({ named, data, typed, version, now, rebase: rebaseSaved, setConflict });
  return {
    ...{ ...typed, version, conflict, save, setVersion },
    isDirty: isDirty(typed),
    isOld: isOld && conflict === null,
    change: (changes) => setTyped((before) => ({ ...before, ...changes })),
    discard: () => setTyped({ ...typed, text: base.text, isPassthrough: base.isPassthrough }),
    takeTheirs() {
      const theirs = conflict ?? now;
      if (theirs === null) return;
      forget(key);
      setConflict(null);
      save.forget();
      const next = baseOf(theirs);
      rebase(next, { text: next.text, isPassthrough: next.isPassthrough, isJson: isJsonFile(theirs.data) });
    },
    keepMine() {
      const theirs = conflict ?? now;
      if (theirs === null) return;
      setConflict(null);
      save.forget();
      rebase(baseOf(theirs));
    },
  };
}

interface Saving {
  named: FileName;
  data: FileData;
  typed: Typed;
  version: string;
  now: Saved | null;
  /** @param sent the text in whose place that of the base is shown, in which secrets are encrypted */
  rebase: (base: Base, sent: string | undefined) => void;
  setConflict: (theirs: Saved) => void;
}

function useSave({ named, data, typed, version, now, rebase, setConflict }: Saving): Deed {
  const place = usePlace();
  const path = data.path ?? '';
  const own = versionPath(path, { version, scopeValue: named.scopeValue });
  const run = async () => {
    const { base, text, isPassthrough, isJson } = typed;
    // Of a draft that was only judged anew, the content is still the one that was read.
    const etag = now !== null && isSame(baseOf(now), base) ? now.etag : base.etag;
    if (etag === null) await refuseExisting(named, version, async () => setConflict(await readSaved(own)));
    const content = { content: text, contentType: isJson ? 'application/json' : 'application/yaml' };
    const body = { version, scopeValue: named.scopeValue, ...(isPassthrough ? { isPassthrough } : content) };
    const put = send<ParameterFile>('PUT', path, body, { ifMatch: etag });
    const { data: mine } = await put.catch(async (error: unknown) => {
      if (error instanceof ApiProblem && error.status === 412) setConflict(await readSaved(own));
      throw error;
    });
    const saved = await readSaved(own);
    if (saved.data.checksum === mine.checksum) rebase(baseOf(saved), isPassthrough ? undefined : text);
    else {
      // Somebody else was quicker after all: the next save must not overwrite that unseen.
      rebase({ text: isPassthrough ? '' : text, isPassthrough, etag: saved.etag }, undefined);
      setConflict(saved);
    }
    if (named.isNew) place.setQuery({ new: null, from: null, version }, false);
    return `The draft ${version} of ${scopeLabel(named)} is saved.`;
  };
  return useDeed(run);
}

/** A new file must not replace a version that somebody else has made meanwhile. */
async function refuseExisting(
  { name, scopeTypeName, scopeValue }: FileName,
  version: string,
  onFound: () => Promise<void>,
): Promise<void> {
  const path = `${apiPath('configurations', name)}/parameter-files`;
  const reply = await get<ParameterFile[]>(withQuery(path, { scopeTypeName, scopeValue, take: MOST }));
  if (!reply?.data.some((file) => file.version === version)) return;
  await onFound();
  const detail = `Version ${version} of this scope is there already.`;
  throw new ApiProblem(409, { code: 'version_exists', detail });
}
