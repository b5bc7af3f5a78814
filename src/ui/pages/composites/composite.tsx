/** One composite: its versions, drafts, and how to get it by git. */

import { useState } from 'preact/hooks';
import { DeleteDialog } from '../../components/deletions.tsx';
import { NewDraftDialog } from '../../components/new-draft.tsx';
import { Page } from '../../components/page.tsx';
import { VersionedActions } from '../../components/versioned-actions.tsx';
import { useVersionUse, VersionsPart } from '../../components/versions-part.tsx';
import { links } from '../../links.ts';
import { CompositeTabs, KIND, useComposite, versionsOf } from './shared.tsx';

type Asked = 'draft' | 'delete' | null;

export function CompositePage({ name }: { name: string }) {
  const composite = useComposite(name);
  const use = useVersionUse(KIND, name);
  const [asked, setAsked] = useState<Asked>(null);
  const close = () => setAsked(null);
  const { data } = composite;
  const versions = versionsOf(composite);
  const access = data?.access ?? null;
  return (
    <Page
      heading={name}
      tab="Versions"
      of={[composite]}
      isEmpty={data?.versions.length === 0}
      crumbs={[{ href: links.list(KIND), label: 'Composites' }]}
      actions={<VersionedActions access={access} onAsk={setAsked} />}
      tools={<CompositeTabs name={name} current="Versions" composite={data} />}
    >
      {data !== null && data.description !== null && <p class="message">{data.description}</p>}
      {data !== null && (
        <dl class="facts">
          <dt>Entry point</dt>
          <dd>
            <code>{data.entryPoint}</code>
          </dd>
        </dl>
      )}
      <VersionsPart kind={KIND} {...{ name, versions, use, access }} />
      {asked === 'draft' && (
        <NewDraftDialog kind={KIND} name={name} versions={versions.data ?? []} onClose={close} />
      )}
      {asked === 'delete' && <DeleteDialog kind={KIND} name={name} onClose={close} />}
    </Page>
  );
}
