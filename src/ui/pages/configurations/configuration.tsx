/** One configuration: its versions, drafts, and how to get it by git. */

import { useState } from 'preact/hooks';
import { CompareForm } from '../../components/compare-form.tsx';
import { CONFIGURATIONS_CRUMB, ConfigurationTabs } from '../../components/configuration-tabs.tsx';
import { CopyLine } from '../../components/copy-line.tsx';
import { Empty } from '../../components/empty.tsx';
import { NewDraftDialog } from '../../components/new-draft.tsx';
import { Page } from '../../components/page.tsx';
import { DraftsTable, VersionsTable } from '../../components/versions-table.tsx';
import { apiOf, apiPath, cloneLine, links, withQuery } from '../../links.ts';
import { type Resource, useResource } from '../../resource.ts';
import { can } from '../../session.ts';
import type { Configuration, Version, VersionUse } from '../../types.ts';
import { DeleteConfigurationDialog, DescriptionDialog } from './deeds.tsx';

type Asked = 'draft' | 'description' | 'delete' | null;

/** The most that one answer of the API has. */
export const MOST_VERSIONS = 1_000;

export function ConfigurationPage({ name }: { name: string }) {
  const configuration = useResource<Configuration>(apiOf('configurations', name));
  const versions = useResource<Version[]>(
    withQuery(apiOf('configurations', name, 'versions'), { take: MOST_VERSIONS }),
  );
  const use = useResource<VersionUse[]>(
    can('nodes.read')
      ? withQuery(`/fleet${apiPath('configurations', name, 'versions')}`, { take: MOST_VERSIONS })
      : null,
  );
  const [asked, setAsked] = useState<Asked>(null);
  const access = configuration.data?.access ?? null;
  const close = () => setAsked(null);
  return (
    <Page
      heading={name}
      tab="Versions"
      of={[configuration, versions]}
      isEmpty={versions.data?.length === 0}
      crumbs={[CONFIGURATIONS_CRUMB]}
      actions={<Actions access={access} ask={setAsked} />}
      tools={<ConfigurationTabs name={name} current="Versions" configuration={configuration.data} />}
    >
      <Description
        text={configuration.data?.description ?? null}
        onEdit={access === null || access === 'Read' ? null : () => setAsked('description')}
      />
      <Versions name={name} versions={versions.data ?? []} total={versions.total ?? 0} {...{ access, use }} />
      {asked === 'draft' && (
        <NewDraftDialog kind="configurations" name={name} versions={versions.data ?? []} onClose={close} />
      )}
      {asked === 'description' && configuration.data !== null && (
        <DescriptionDialog configuration={configuration.data} onClose={close} />
      )}
      {asked === 'delete' && <DeleteConfigurationDialog name={name} onClose={close} />}
    </Page>
  );
}

function Actions({ access, ask }: { access: Configuration['access']; ask: (asked: Asked) => void }) {
  if (access === null || access === 'Read') return null;
  return (
    <>
      <button type="button" class="primary" onClick={() => ask('draft')}>
        New draft
      </button>
      {access === 'Manage' && (
        <button type="button" onClick={() => ask('delete')}>
          Delete
        </button>
      )}
    </>
  );
}

function Description({ text, onEdit }: { text: string | null; onEdit: (() => void) | null }) {
  if (text === null && onEdit === null) return null;
  return (
    <div class="description">
      {text === null ? <p class="muted">No description.</p> : <p class="message">{text}</p>}
      {onEdit !== null && (
        <button type="button" class="quiet small" onClick={onEdit}>
          Edit description
        </button>
      )}
    </div>
  );
}

interface VersionsProps {
  name: string;
  /** Highest first. */
  versions: readonly Version[];
  total: number;
  access: Configuration['access'];
  use: Resource<VersionUse[]>;
}

function Versions({ name, versions, total, access, use }: VersionsProps) {
  const maySee = can('nodes.read') && use.state !== 'forbidden';
  const drafts = versions.filter(({ status }) => status === 'Draft');
  const published = versions.filter(({ status }) => status === 'Published');
  const canModify = access === 'Modify' || access === 'Manage';
  return (
    <>
      {drafts.length > 0 && (
        <section class="part">
          <h2>Drafts</h2>
          <DraftsTable
            {...{ kind: 'configurations', name, drafts, canModify }}
            canManage={access === 'Manage'}
          />
        </section>
      )}
      <section class="part" aria-busy={maySee && use.state === 'loading'}>
        <div class="bar">
          <h2>Versions</h2>
          <span class="actions">
            <CompareForm kind="configurations" name={name} versions={versions} />
          </span>
        </div>
        {published.length > 0 ? (
          <VersionsTable
            kind="configurations"
            name={name}
            versions={published}
            use={maySee ? use.data : undefined}
          />
        ) : (
          <NothingPublished name={name} draft={drafts[0]?.version} canModify={canModify} />
        )}
        {total > versions.length && (
          <p class="hint">
            The {versions.length} highest of {total} versions are shown. Git has them all.
          </p>
        )}
      </section>
      <section class="part">
        <h2>Git</h2>
        <CopyLine text={cloneLine(name)} label="the clone line" />
        <p class="hint">
          Use a personal access token as the password. Each version is a tag, each draft a branch.
        </p>
      </section>
    </>
  );
}

function NothingPublished({
  name,
  draft,
  canModify,
}: {
  name: string;
  draft: string | undefined;
  canModify: boolean;
}) {
  return (
    <Empty>
      <p>No version is published yet, so no node can get this configuration.</p>
      {draft !== undefined && canModify && (
        <p>
          <a href={links.review('configurations', name, draft)}>Review the draft {draft}</a> and publish it.
        </p>
      )}
      {draft === undefined && canModify && <p>Begin with a new draft.</p>}
    </Empty>
  );
}
