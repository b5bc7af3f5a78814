/** A published version, which never changes: its content, and what it changed. */

import { Editor } from '../../components/editor.tsx';
import type { ParameterContent } from '../../types.ts';
import { ChangesPart } from './changes.tsx';
import type { FileData, FileName } from './file-data.ts';
import { pathOf } from './model.ts';
import { SecretsPart } from './secrets.tsx';

export function PublishedPart({
  named,
  data,
  file,
}: {
  named: FileName;
  data: FileData;
  file: ParameterContent;
}) {
  const { version, contentType, content, isPassthrough } = file;
  const isJson = contentType === 'application/json';
  const text = content ?? '';
  return (
    <>
      <section class="part" aria-label="Content">
        {isPassthrough ? (
          <PassthroughNote />
        ) : (
          <>
            <Editor
              path={pathOf(contentType)}
              text={text}
              language={isJson ? 'json' : 'yaml'}
              schema={data.schema.data}
              isReadOnly
            />
            <SecretsPart {...{ named, data, text, isJson }} stored={{ version, text }} draft={null} />
          </>
        )}
      </section>
      <ChangesPart {...{ named, data }} />
    </>
  );
}

export function PassthroughNote() {
  return (
    <p class="note">
      This version is a passthrough: it sets nothing. From it on, nodes get their values from the other
      scopes.
    </p>
  );
}
