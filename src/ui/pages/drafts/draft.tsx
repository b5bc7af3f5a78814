/** A draft of a configuration: its files, the one that is edited, and what can be done with the draft. */

import { useState } from 'preact/hooks';
import { type ChosenFile, filesOfDrop } from '../../chosen-files.ts';
import { Mark } from '../../components/marks.tsx';
import { Page } from '../../components/page.tsx';
import { VersionFacts } from '../../components/version-facts.tsx';
import { download } from '../../download.ts';
import { apiOf, links } from '../../links.ts';
import { type Resource, useResource } from '../../resource.ts';
import { usePlace } from '../../router.ts';
import type { Configuration, VersionDetails } from '../../types.ts';
import { DeleteDraftDialog, DeleteFileDialog, NewFileDialog } from './deeds.tsx';
import { DraftFiles } from './files.tsx';
import { draftCrumbs, PublishedNote, reasonAgainst } from './shared.tsx';
import { type UnsavedFiles, unsavedOf } from './unsaved.ts';
import { UploadDialog } from './upload.tsx';

const KIND = 'configurations';

type Asked = 'new file' | 'upload' | 'delete file' | 'delete draft' | null;

interface Props {
  name: string;
  version: string;
}

export function DraftPage({ name, version }: Props) {
  const configuration = useResource<Configuration>(apiOf(KIND, name));
  const draft = useResource<VersionDetails>(apiOf(KIND, name, 'versions', version));
  const unsaved = unsavedOf(name, version);
  const [asked, ask] = useState<Asked>(null);
  const [dropped, setDropped] = useState<readonly ChosenFile[]>([]);
  const reason = reasonAgainst('change', configuration.data);
  const isDraft = draft.data?.status === 'Draft';
  const askWith = (files: readonly ChosenFile[]) => {
    setDropped(files);
    ask('upload');
  };
  return (
    <Page
      heading={`${name} ${version}`}
      of={[configuration, draft]}
      crumbs={draftCrumbs(name)}
      beside={draft.data !== null && <Mark word={draft.data.status} />}
      actions={
        isDraft && (
          <Actions
            {...{ name, version, reason }}
            reasonToKeep={reasonAgainst('delete', configuration.data)}
            ask={(what) => (what === 'upload' ? askWith([]) : ask(what))}
          />
        )
      }
    >
      {draft.data !== null && (
        <>
          {!isDraft && <PublishedNote name={name} version={version} />}
          {(isDraft || unsaved.value.size > 0) && (
            <Content
              {...{ name, unsaved }}
              draft={draft.data}
              reason={isDraft ? reason : 'The version is published. Copy from here what you have typed.'}
              onDeleteFile={() => ask('delete file')}
              onDrop={askWith}
            />
          )}
          <Dialogs {...{ name, draft, unsaved, asked, dropped }} onClose={() => ask(null)} />
        </>
      )}
    </Page>
  );
}

interface ActionsProps extends Props {
  reason: string | null;
  reasonToKeep: string | null;
  ask: (asked: Asked) => void;
}

/** What the user may not do is left out; the reason stands beside the files. */
function Actions({ name, version, reason, reasonToKeep, ask }: ActionsProps) {
  return (
    <>
      {reason === null && (
        <>
          <button type="button" onClick={() => ask('new file')}>
            New file
          </button>
          <button type="button" onClick={() => ask('upload')}>
            Upload
          </button>
        </>
      )}
      <button type="button" onClick={() => download(apiOf(KIND, name, 'versions', version, 'archive'))}>
        Download
      </button>
      {reasonToKeep === null && (
        <button type="button" onClick={() => ask('delete draft')}>
          Delete draft
        </button>
      )}
      <a class="button primary" href={links.review(KIND, name, version)}>
        Review
      </a>
    </>
  );
}

interface ContentProps {
  name: string;
  draft: VersionDetails;
  unsaved: UnsavedFiles;
  reason: string | null;
  onDeleteFile: () => void;
  onDrop: (files: readonly ChosenFile[]) => void;
}

function Content({ reason, onDrop, ...props }: ContentProps) {
  const { name, draft } = props;
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: what is dropped can be chosen by a button too.
    <div
      class="part"
      onDragOver={(event) => event.preventDefault()}
      onDrop={(event) => {
        event.preventDefault();
        if (reason === null && event.dataTransfer !== null) void filesOfDrop(event.dataTransfer).then(onDrop);
      }}
    >
      <VersionFacts
        version={draft}
        below={null}
        compareUrl={(from) => links.compare(KIND, name, from, draft.version)}
      >
        <dt>Entry point</dt>
        <dd>
          <code>{draft.entryPoint}</code>
        </dd>
      </VersionFacts>
      {reason !== null && <p class="warning">{reason}</p>}
      <DraftFiles {...props} reason={reason} />
    </div>
  );
}

interface DialogsProps {
  name: string;
  draft: Resource<VersionDetails>;
  unsaved: UnsavedFiles;
  asked: Asked;
  dropped: readonly ChosenFile[];
  onClose: () => void;
}

function Dialogs({ name, draft: { data, etag }, unsaved, asked, dropped, onClose }: DialogsProps) {
  const path = usePlace().query.get('file');
  if (data === null) return null;
  const dialog = { name, draft: data, onClose };
  return (
    <>
      {asked === 'new file' && <NewFileDialog {...dialog} />}
      {asked === 'upload' && <UploadDialog {...dialog} dropped={dropped} />}
      {asked === 'delete file' && path !== null && (
        <DeleteFileDialog {...dialog} path={path} unsaved={unsaved} />
      )}
      {asked === 'delete draft' && <DeleteDraftDialog {...dialog} etag={etag} unsaved={unsaved} />}
    </>
  );
}
