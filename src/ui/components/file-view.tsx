/** One file of a version: its lines with their numbers, or a sentence where it has none to show. */

import { useEffect, useState } from 'preact/hooks';
import { API } from '../client.ts';
import { apiOf, type Kind } from '../links.ts';
import { useResource } from '../resource.ts';
import { usePlace } from '../router.ts';
import type { BlamedLines } from '../types.ts';
import { CodeLines } from './code-lines.tsx';
import { Checksum, type VersionFile } from './files-table.tsx';
import { Part } from './page.tsx';
import { Size } from './size.tsx';

/** Larger files are not read into the page. The API compares none that are larger either. */
const MAX_SIZE = 1024 * 1024;
/** A file with a NUL in so many bytes is binary, as for Git and for the API. */
const LOOKED_AT = 8_000;

interface Props {
  kind: Kind;
  name: string;
  version: string;
  file: VersionFile;
  /** Whether each line shows who wrote it. In the URL it is `?blame=true`. */
  isBlamed: boolean;
  /** A draft can change; a published version cannot. */
  isDraft?: boolean;
}

export function FileView({ kind, name, version, file, isBlamed, isDraft = false }: Props) {
  const place = usePlace();
  const { path, size } = file;
  const segments = path.split('/');
  const address = apiOf(kind, name, 'versions', version, 'files', ...segments);
  const isTooLarge = size > MAX_SIZE;
  const content = useResource<Blob>(isTooLarge ? null : address, {
    isRaw: true,
    accept: '*/*',
    poll: isDraft,
  });
  const text = useText(content.data);
  const canBlame = typeof text === 'string' && text !== '';
  const blame = useResource<BlamedLines[]>(
    isBlamed && canBlame ? apiOf(kind, name, 'versions', version, 'blame', ...segments) : null,
    { poll: isDraft },
  );
  return (
    <section
      class="part file-view"
      aria-labelledby="file-heading"
      aria-busy={content.data !== null && text === undefined}
    >
      <div class="bar">
        <h2 id="file-heading">{path}</h2>
        <span class="muted">
          <Size bytes={size} />
        </span>
        <Checksum checksum={file.checksum} of="this file" />
        <span class="actions">
          {canBlame && (
            <button
              type="button"
              aria-pressed={isBlamed}
              onClick={() => place.setQuery({ blame: isBlamed ? null : 'true' })}
            >
              Blame
            </button>
          )}
          <a class="button" href={API + address} download="">
            Download file
          </a>
        </span>
      </div>
      {isTooLarge ? (
        <p>This file is too large to be shown here. Download it to read it.</p>
      ) : (
        <Part of={content}>
          {() => {
            if (text === undefined) return null;
            if (text === null)
              return <p>This is a binary file, so it has no lines to show. Download it to use it.</p>;
            if (text === '') return <p>This file is empty.</p>;
            return isBlamed ? (
              <Part of={blame}>
                {(blocks) => <CodeLines path={path} text={text} blame={{ kind, name, blocks }} />}
              </Part>
            ) : (
              <CodeLines path={path} text={text} />
            );
          }}
        </Part>
      )}
    </section>
  );
}

/** The text of a file; null of a binary one, undefined while it is not known yet. */
function useText(content: Blob | null): string | null | undefined {
  const [read, setRead] = useState<{ of: Blob; text: string | null } | null>(null);
  useEffect(() => {
    if (content === null) return undefined;
    let isCurrent = true;
    void content.arrayBuffer().then((buffer) => {
      if (isCurrent) setRead({ of: content, text: textOf(new Uint8Array(buffer)) });
    });
    return () => {
      isCurrent = false;
    };
  }, [content]);
  return content !== null && read?.of === content ? read.text : undefined;
}

function textOf(bytes: Uint8Array): string | null {
  if (bytes.subarray(0, LOOKED_AT).includes(0)) return null;
  return new TextDecoder().decode(bytes);
}
