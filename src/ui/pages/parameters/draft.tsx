/** A draft of a parameter file: written, checked, tried on a node, reviewed and published on one page. */

import type { FieldProblem } from '../../client.ts';
import { Editor } from '../../components/editor.tsx';
import { CheckField, Field, SelectField } from '../../components/field.tsx';
import { Mark } from '../../components/marks.tsx';
import { Skeleton } from '../../components/page.tsx';
import { Problem } from '../../components/problem.tsx';
import { marksOf, useVerdict } from '../../components/use-verdict.ts';
import { VerdictPart } from '../../components/verdict.tsx';
import { apiPath, withQuery } from '../../links.ts';
import { ConflictPart } from './conflict.tsx';
import type { FileData, FileName } from './file-data.ts';
import { MergePart } from './merge.tsx';
import { mayChange, pathOf } from './model.ts';
import { PassthroughNote } from './published.tsx';
import { ReviewPart } from './review.tsx';
import { skeletonOf } from './schema.ts';
import { SecretsPart } from './secrets.tsx';
import type { Typed } from './unsaved.ts';
import { baseOf, type Draft, isJsonFile, useDraft } from './use-draft.ts';

interface PartProps {
  named: FileName;
  data: FileData;
}

export function DraftPart({ named, data }: PartProps) {
  const first = firstOf(named, data);
  if (first === null)
    return (
      <div aria-busy="true">
        <Skeleton />
      </div>
    );
  return <DraftEditor {...{ named, data, first }} />;
}

/** What the editor begins with; null while that is being read. */
function firstOf({ isNew, from }: FileName, { file, schema }: FileData): Typed | null {
  if (isNew && from === null) {
    if (schema.state === 'loading') return null;
    const text = skeletonOf(schema.data, false);
    return { base: { text, isPassthrough: false, etag: null }, text, isPassthrough: false, isJson: false };
  }
  if (file.data === null) return null;
  const base = baseOf({ data: file.data, etag: isNew ? null : file.etag });
  return { base, text: base.text, isPassthrough: base.isPassthrough, isJson: isJsonFile(file.data) };
}

function DraftEditor({ named, data, first }: PartProps & { first: Typed }) {
  const draft = useDraft(named, data, first);
  const isChangeable = mayChange(data);
  const version = named.isNew ? named.from : named.version;
  const stored = version === null ? null : { version, text: draft.base.text };
  return (
    <>
      <ConflictPart draft={draft} />
      <section class="part" aria-label="Content">
        {isChangeable && <Options {...{ named, data, draft }} />}
        {draft.isPassthrough ? (
          <PassthroughNote />
        ) : (
          <>
            <Text {...{ named, data, draft, first, isChangeable }} />
            <SecretsPart
              {...{ named, data, stored }}
              text={draft.text}
              isJson={draft.isJson}
              draft={isChangeable ? draft : null}
            />
          </>
        )}
        {isChangeable && <SaveBar {...{ named, draft }} />}
      </section>
      <MergePart {...{ named, draft }} />
      {!named.isNew && <ReviewPart {...{ named, data, draft }} />}
    </>
  );
}

/** What a file is, beside its text. Version and format are chosen once, when it begins. */
function Options({ named, data, draft }: PartProps & { draft: Draft }) {
  const isUntouched = draft.text === draft.base.text;
  const choose = (isJson: boolean) =>
    draft.change({ isJson, ...(isUntouched && { text: skeletonOf(data.schema.data, isJson) }) });
  return (
    <div class="file-options">
      {named.isNew && (
        <>
          <Field label="Version" name="version" value={draft.version} onInput={draft.setVersion} required />
          <SelectField
            label="Format"
            name="contentType"
            value={draft.isJson ? 'json' : 'yaml'}
            onInput={(value) => choose(value === 'json')}
            choices={[
              { value: 'yaml', label: 'YAML' },
              { value: 'json', label: 'JSON' },
            ]}
          />
        </>
      )}
      <CheckField
        label="Passthrough: this scope sets nothing, on purpose"
        checked={draft.isPassthrough}
        onChange={(isPassthrough) => draft.change({ isPassthrough })}
      />
    </div>
  );
}

interface TextProps extends PartProps {
  draft: Draft;
  first: Typed;
  isChangeable: boolean;
}

function Text({ named, data, draft, first, isChangeable }: TextProps) {
  const { text, isJson, save } = draft;
  const type = isJson ? 'application/json' : 'application/yaml';
  const url = withQuery(`${apiPath('configurations', named.name)}/parameters/validate`, {
    ...{ version: data.schemaVersion, partial: 'true', anyText: 'true' },
  });
  // What the page itself has proposed is not found fault with.
  const isProposed = named.isNew && named.from === null && text === first.text;
  const isAsked = !isProposed && data.schema.state !== 'loading';
  const verdict = useVerdict(isAsked ? { url, text, type, member: 'errors' } : null);
  const faults = [...(verdict?.faults ?? []), ...(save.problem?.errors ?? []).map(inContent)];
  return (
    <>
      <Editor
        path={pathOf(type)}
        text={text}
        language={isJson ? 'json' : 'yaml'}
        schema={data.schema.data}
        problems={marksOf(faults)}
        isReadOnly={!isChangeable}
        onChange={(typed) => draft.change({ text: typed })}
        onSave={() => void save.start()}
      />
      <VerdictPart
        verdict={verdict}
        hint={hintOf(data)}
        valid={
          <>
            <Mark word="Valid" tone="good" />
            {data.schema.data !== null && data.schemaVersion !== undefined && (
              <span class="muted">by the schema of version {data.schemaVersion}</span>
            )}
          </>
        }
        code="validation_failed"
      />
    </>
  );
}

/** What is said until the text is checked. A schema that cannot be read is not one that is missing. */
function hintOf({ schema: { state, data, problem }, schemaVersion }: FileData): string {
  const when = 'The text is checked while you type';
  if (data !== null) return `${when}, by the schema of version ${schemaVersion ?? 'of the configuration'}.`;
  if (problem !== null) return `The schema cannot be read. ${problem.detail}`;
  return state === 'ready' ? `${when}. There is no schema, so every value is accepted.` : `${when}.`;
}

/** A refused save names the document by the member of its body that holds it. */
function inContent(error: FieldProblem): FieldProblem {
  return { ...error, path: error.path?.replace(/^\/content(?=\/|$)/, '') ?? null };
}

function SaveBar({ named, draft }: { named: FileName; draft: Draft }) {
  const { save, isDirty } = draft;
  return (
    <>
      {save.problem !== null && draft.conflict === null && <Problem problem={save.problem} />}
      <div class="bar">
        {/* It is never disabled, because the keyboard would lose its place when everything is saved. */}
        <button type="button" class="primary" aria-busy={save.isBusy} onClick={() => void save.start()}>
          Save
        </button>
        {isDirty && !named.isNew && (
          <button type="button" onClick={draft.discard}>
            Discard changes
          </button>
        )}
        <span class="muted">{isDirty ? 'There are changes that are not saved.' : 'Ctrl+S saves.'}</span>
      </div>
    </>
  );
}
