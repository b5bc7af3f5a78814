/** One configuration: its versions, drafts, and how to get it by git. */

import { useState } from 'preact/hooks';
import { CONFIGURATIONS_CRUMB, ConfigurationTabs } from '../../components/configuration-tabs.tsx';
import { DeleteDialog } from '../../components/deletions.tsx';
import { NewDraftDialog } from '../../components/new-draft.tsx';
import { Page } from '../../components/page.tsx';
import { VersionedActions } from '../../components/versioned-actions.tsx';
import { useVersions, useVersionUse, VersionsPart } from '../../components/versions-part.tsx';
import { apiOf } from '../../links.ts';
import { useResource } from '../../resource.ts';
import type { Configuration, Version } from '../../types.ts';
import { DescriptionDialog } from './deeds.tsx';

type Asked = 'draft' | 'description' | 'delete' | null;

export function ConfigurationPage({ name }: { name: string }) {
  const configuration = useResource<Configuration>(apiOf('configurations', name));
  const versions = useVersions<Version>('configurations', name);
  const use = useVersionUse('configurations', name);
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
      actions={<VersionedActions access={access} onAsk={setAsked} />}
      tools={<ConfigurationTabs name={name} current="Versions" configuration={configuration.data} />}
    >
      <Description
        text={configuration.data?.description ?? null}
        onEdit={access === null || access === 'Read' ? null : () => setAsked('description')}
      />
      <VersionsPart kind="configurations" {...{ name, versions, use, access }} />
      {asked === 'draft' && (
        <NewDraftDialog kind="configurations" name={name} versions={versions.data ?? []} onClose={close} />
      )}
      {asked === 'description' && configuration.data !== null && (
        <DescriptionDialog configuration={configuration.data} onClose={close} />
      )}
      {asked === 'delete' && <DeleteDialog kind="configurations" name={name} onClose={close} />}
    </Page>
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
