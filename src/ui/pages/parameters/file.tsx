/** One version of a scope's parameter file: a draft to write, review and publish, or a published version to read. */

import { useState } from 'preact/hooks';
import { send } from '../../client.ts';
import { CONFIGURATIONS_CRUMB } from '../../components/configuration-tabs.tsx';
import { DeedDialog } from '../../components/dialog.tsx';
import { Mark } from '../../components/marks.tsx';
import { Page } from '../../components/page.tsx';
import { Time } from '../../components/time.tsx';
import { Account } from '../../components/version-facts.tsx';
import { VersionMark } from '../../components/version-mark.tsx';
import { OfferAgainDialog, WithdrawDialog } from '../../components/withdraw.tsx';
import { links } from '../../links.ts';
import { usePlace } from '../../router.ts';
import type { ParameterContent } from '../../types.ts';
import { newFileLink } from './addresses.ts';
import { ChangesPart } from './changes.tsx';
import { DraftPart } from './draft.tsx';
import { type FileData, type FileName, useFileData, versionPath } from './file-data.ts';
import { majorOf, mayChange, mayManage, nextVersion, scopeLabel } from './model.ts';
import { PublishedPart } from './published.tsx';
import { VersionsPart } from './versions.tsx';

export function ParameterFilePage({ name }: { name: string }) {
  const { query } = usePlace();
  const named: FileName = {
    name,
    scopeTypeName: query.get('scopeTypeName') ?? 'Default',
    scopeValue: query.get('scopeValue'),
    version: query.get('version') ?? '',
    isNew: query.get('new') === 'true',
    from: query.get('from'),
  };
  const data = useFileData(named);
  const { file, needed } = data;
  const shown = named.isNew ? null : file.data;
  const isDraft = named.isNew || shown?.status === 'Draft';
  return (
    <Page
      heading={`${name} ${scopeLabel(named)} ${named.version}`}
      of={needed}
      crumbs={[
        CONFIGURATIONS_CRUMB,
        { href: links.named('configurations', name), label: name },
        { href: links.parameters(name), label: 'Parameters' },
      ]}
      beside={<Marks named={named} file={shown} />}
      actions={<Actions {...{ named, data }} />}
    >
      {isDraft ? (
        <DraftPart key={`${scopeLabel(named)} ${named.version}`} {...{ named, data }} />
      ) : (
        shown !== null && (
          <>
            <Account of={shown} keepers="Nodes get the next lower version of the scope that fits." />
            <Published {...{ named, data }} file={shown} />
          </>
        )
      )}
      <VersionsPart {...{ named, data }} />
    </Page>
  );
}

/** To whoever may change the scope's file, a published version is where the next one begins. */
function Published({ named, data, file }: PartProps & { file: ParameterContent }) {
  if (!mayChange(data) || file.isPassthrough) return <PublishedPart {...{ named, data, file }} />;
  const { version } = named;
  const next = nextVersion(data.series.data ?? [], majorOf(version) ?? '1');
  return (
    <>
      <p class="note">
        This version is published and stays as it is. What you change here is saved as the draft of another
        one.
      </p>
      <DraftPart
        key={`${scopeLabel(named)} ${version} next`}
        named={{ ...named, version: next, isNew: true, from: version }}
        data={data}
      />
      <ChangesPart {...{ named, data }} />
    </>
  );
}

function Marks({ named, file }: { named: FileName; file: ParameterContent | null }) {
  if (named.isNew) return <Mark word="Not saved yet" tone="idle" />;
  if (file === null) return null;
  return (
    <>
      <VersionMark version={file} />
      {file.isPassthrough && <Mark word="Passthrough" tone="idle" />}
      {file.rollout !== null && (
        <a href={links.rollout('configurations', named.name, file.rollout.key)}>
          <Mark word={file.rollout.state} /> <span class="muted">in a rollout</span>
        </a>
      )}
      {file.needsMigration && <Mark word="Breaks the schema" tone="warn" />}
      <span class="muted">
        by {file.createdBy}, <Time at={file.publishedAt ?? file.createdAt} />
      </span>
    </>
  );
}

interface PartProps {
  named: FileName;
  data: FileData;
}

/** Deeds on the whole version. What the user may not do is not offered. */
function Actions({ named, data }: PartProps) {
  const [isAsking, setAsking] = useState(false);
  const { file, series } = data;
  if (named.isNew || file.data === null) return null;
  if (file.data.status === 'Draft')
    return (
      mayManage(data) && (
        <>
          <button type="button" onClick={() => setAsking(true)}>
            Delete draft
          </button>
          {isAsking && <DeleteDialog {...{ named, data }} onClose={() => setAsking(false)} />}
        </>
      )
    );
  if (!mayChange(data)) return null;
  const { name, version } = named;
  const next = nextVersion(series.data ?? [], majorOf(version) ?? '1');
  const dialog = {
    ...{ label: `${name} ${scopeLabel(named)} ${version}`, of: null },
    named: {
      configurationName: name,
      scopeTypeName: named.scopeTypeName,
      scopeValue: named.scopeValue,
      version,
    },
    path: versionPath(data.path ?? '', named, '/withdraw'),
    onClose: () => setAsking(false),
  };
  const isWithdrawn = file.data.withdrawn !== null;
  return (
    <>
      {mayManage(data) && (
        <button type="button" onClick={() => setAsking(true)}>
          {isWithdrawn ? 'Offer again' : 'Withdraw'}
        </button>
      )}
      <a class="button primary" href={newFileLink(name, named, { version: next, from: version })}>
        New version
      </a>
      {isAsking && (isWithdrawn ? <OfferAgainDialog {...dialog} /> : <WithdrawDialog {...dialog} />)}
    </>
  );
}

function DeleteDialog({ named, data, onClose }: PartProps & { onClose: () => void }) {
  const place = usePlace();
  const { version } = named;
  const remove = async () => {
    await send('DELETE', versionPath(data.path ?? '', named), undefined, { ifMatch: data.file.etag });
    place.go(links.parameters(named.name));
    return `The draft ${version} of ${scopeLabel(named)} is deleted.`;
  };
  return (
    <DeedDialog
      heading={`Delete draft ${version}`}
      deed="Delete draft"
      run={remove}
      onClose={onClose}
      isDanger
    >
      <p>Its content is gone afterwards. Nodes do not get drafts, so nothing changes for them.</p>
    </DeedDialog>
  );
}
