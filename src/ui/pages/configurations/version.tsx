/** One version of a configuration: what it is, its files, and who runs it. */

import { useState } from 'preact/hooks';
import { CONFIGURATIONS_CRUMB } from '../../components/configuration-tabs.tsx';
import { FileView } from '../../components/file-view.tsx';
import { FilesTable } from '../../components/files-table.tsx';
import { NewDraftDialog } from '../../components/new-draft.tsx';
import { Page } from '../../components/page.tsx';
import { ProofPart } from '../../components/proof.tsx';
import { FoundFacts, VersionFacts } from '../../components/version-facts.tsx';
import { VersionMark } from '../../components/version-mark.tsx';
import { useVersions, versionBelow } from '../../components/versions-part.tsx';
import { OfferAgainDialog, WithdrawDialog } from '../../components/withdraw.tsx';
import { download } from '../../download.ts';
import { apiOf, links } from '../../links.ts';
import { useResource } from '../../resource.ts';
import { changedUrl, usePlace } from '../../router.ts';
import { can } from '../../session.ts';
import type { Configuration, Version, VersionDetails } from '../../types.ts';

const KIND = 'configurations';

type Asked = 'draft' | 'withdraw' | 'offer' | null;

export function VersionPage({ name, version }: { name: string; version: string }) {
  const details = useResource<VersionDetails>(apiOf(KIND, name, 'versions', version));
  const configuration = useResource<Configuration>(apiOf(KIND, name));
  const versions = useVersions<Version>(KIND, name);
  const [asked, setAsked] = useState<Asked>(null);
  const shown = details.data;
  // Somebody who reads a file wants the room for it.
  const isFileOpen = usePlace().query.get('file') !== null;
  const onClose = () => setAsked(null);
  const path = apiOf(KIND, name, 'versions', version, 'withdraw');
  const dialog = {
    label: `${name} ${version}`,
    path,
    of: { kind: KIND, name },
    named: { configurationName: name, version },
    onClose,
  } as const;
  return (
    <Page
      heading={`${name} ${version}`}
      of={[details, configuration]}
      crumbs={[CONFIGURATIONS_CRUMB, { href: links.named(KIND, name), label: name }]}
      beside={shown !== null && <VersionMark version={shown} />}
      actions={
        <Actions name={name} version={shown} access={configuration.data?.access ?? null} ask={setAsked} />
      }
    >
      {shown !== null && (
        <>
          {!isFileOpen && (
            <VersionFacts
              version={shown}
              below={versionBelow(versions.data ?? [], version)}
              compareUrl={(from) => links.compare(KIND, name, from, version)}
            >
              <dt>Entry point</dt>
              <dd>
                <code>{shown.entryPoint}</code>
              </dd>
              <FoundFacts findings={shown.findings} />
            </VersionFacts>
          )}
          {!isFileOpen && shown.status === 'Published' && can('nodes.read') && (
            <ProofPart kind={KIND} name={name} version={version} />
          )}
          <Files name={name} version={shown} />
        </>
      )}
      {asked === 'withdraw' && <WithdrawDialog {...dialog} />}
      {asked === 'offer' && <OfferAgainDialog {...dialog} />}
      {asked === 'draft' && (
        <NewDraftDialog {...{ kind: KIND, name, from: version, onClose }} versions={versions.data ?? []} />
      )}
    </Page>
  );
}

interface ActionsProps {
  name: string;
  version: VersionDetails | null;
  access: Configuration['access'];
  ask: (asked: Asked) => void;
}

function Actions({ name, version, access, ask }: ActionsProps) {
  if (version === null) return null;
  const isDraft = version.status === 'Draft';
  const mayModify = access === 'Modify' || access === 'Manage';
  return (
    <>
      {isDraft && mayModify && (
        <a class="button" href={links.draft(KIND, name, version.version)}>
          Edit
        </a>
      )}
      {isDraft && (
        <a class="button" href={links.review(KIND, name, version.version)}>
          Review
        </a>
      )}
      <button
        type="button"
        onClick={() => download(apiOf(KIND, name, 'versions', version.version, 'archive'))}
      >
        Download
      </button>
      {mayModify && (
        <button type="button" onClick={() => ask('draft')}>
          Draft from this
        </button>
      )}
      {!isDraft && access === 'Manage' && (
        <button type="button" onClick={() => ask(version.withdrawn === null ? 'withdraw' : 'offer')}>
          {version.withdrawn === null ? 'Withdraw' : 'Offer again'}
        </button>
      )}
    </>
  );
}

/** The table and, beside it, the file that is chosen. */
function Files({ name, version }: { name: string; version: VersionDetails }) {
  const place = usePlace();
  const path = place.query.get('file');
  const file = version.files.find((each) => each.path === path);
  const isBlamed = place.query.get('blame') === 'true';
  return (
    <section class="part">
      <div class="bar">
        <h2>Files</h2>
        {path !== null && (
          <a href={changedUrl(place.path, place.query, { file: null, blame: null })}>
            Back to all of {version.version}
          </a>
        )}
      </div>
      {path !== null && file === undefined && (
        <p role="alert" class="alert" data-code="not_found">
          There is no file {path} in this version.
        </p>
      )}
      <div class={file === undefined ? 'part' : 'files-beside'}>
        <div class="files-list">
          <FilesTable
            files={version.files}
            current={file?.path ?? null}
            hrefOf={(to) => changedUrl(place.path, place.query, { file: to })}
          />
        </div>
        {file !== undefined && (
          <FileView
            {...{ kind: KIND, name, version: version.version, file, isBlamed }}
            isDraft={version.status === 'Draft'}
          />
        )}
      </div>
    </section>
  );
}
