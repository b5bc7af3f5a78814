/** One version of a composite: what it is, its children, and who runs it. */

import { useState } from 'preact/hooks';
import { crumbsOf } from '../../components/draft-parts.tsx';
import { Page } from '../../components/page.tsx';
import { ProofPart } from '../../components/proof.tsx';
import { FoundFacts, VersionFacts } from '../../components/version-facts.tsx';
import { VersionMark } from '../../components/version-mark.tsx';
import { versionBelow } from '../../components/versions-part.tsx';
import { OfferAgainDialog, WithdrawDialog } from '../../components/withdraw.tsx';
import { apiOf, links } from '../../links.ts';
import { useResource } from '../../resource.ts';
import { can } from '../../session.ts';
import type { Composite, CompositeVersion } from '../../types.ts';
import { ChildrenTable } from './children-table.tsx';
import { KIND, useComposite, useConfigurations } from './shared.tsx';

type Asked = 'withdraw' | 'offer' | null;

export function CompositeVersionPage({ name, version }: { name: string; version: string }) {
  const details = useResource<CompositeVersion>(apiOf(KIND, name, 'versions', version));
  const composite = useComposite(name);
  const configurations = useConfigurations();
  const [asked, setAsked] = useState<Asked>(null);
  const shown = details.data;
  const onClose = () => setAsked(null);
  const path = apiOf(KIND, name, 'versions', version, 'withdraw');
  const dialog = {
    label: `${name} ${version}`,
    path,
    of: { kind: KIND, name },
    named: { compositeName: name, version },
    onClose,
  } as const;
  return (
    <Page
      heading={`${name} ${version}`}
      of={[details, composite]}
      crumbs={crumbsOf(KIND, name)}
      beside={shown !== null && <VersionMark version={shown} />}
      actions={<Actions name={name} version={shown} access={composite.data?.access ?? null} ask={setAsked} />}
    >
      {shown !== null && (
        <>
          <VersionFacts
            version={shown}
            below={versionBelow(composite.data?.versions ?? [], version)}
            compareUrl={(from) => links.compare(KIND, name, from, version)}
          >
            <dt>Entry point</dt>
            <dd>
              <code>{composite.data?.entryPoint}</code>
            </dd>
            <FoundFacts findings={shown.findings} />
          </VersionFacts>
          {shown.status === 'Published' && can('nodes.read') && (
            <ProofPart kind={KIND} name={name} version={version} />
          )}
          <section class="part">
            <h2>Children</h2>
            <ChildrenTable
              items={shown.items}
              configurations={configurations}
              none={<p>This version has no children yet.</p>}
            />
          </section>
        </>
      )}
      {asked === 'withdraw' && <WithdrawDialog {...dialog} />}
      {asked === 'offer' && <OfferAgainDialog {...dialog} />}
    </Page>
  );
}

interface ActionsProps {
  name: string;
  version: CompositeVersion | null;
  access: Composite['access'];
  ask: (asked: Asked) => void;
}

function Actions({ name, version, access, ask }: ActionsProps) {
  if (version === null) return null;
  const isDraft = version.status === 'Draft';
  return (
    <>
      {isDraft && (access === 'Modify' || access === 'Manage') && (
        <a class="button" href={links.draft(KIND, name, version.version)}>
          Edit
        </a>
      )}
      {isDraft && (
        <a class="button" href={links.review(KIND, name, version.version)}>
          Review
        </a>
      )}
      {!isDraft && access === 'Manage' && (
        <button type="button" onClick={() => ask(version.withdrawn === null ? 'withdraw' : 'offer')}>
          {version.withdrawn === null ? 'Withdraw' : 'Offer again'}
        </button>
      )}
    </>
  );
}
