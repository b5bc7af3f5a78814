/** A draft of a composite: its children, and what can be done with the draft. */

import { useState } from 'preact/hooks';
import { DeleteDraftDialog } from '../../components/deletions.tsx';
import { crumbsOf, PublishedNote, reasonAgainst } from '../../components/draft-parts.tsx';
import { Page } from '../../components/page.tsx';
import { VersionFacts } from '../../components/version-facts.tsx';
import { VersionMark } from '../../components/version-mark.tsx';
import { versionBelow } from '../../components/versions-part.tsx';
import { apiOf, links } from '../../links.ts';
import { type Resource, useResource } from '../../resource.ts';
import { usePlace } from '../../router.ts';
import type { CompositeDetails, CompositeVersion } from '../../types.ts';
import { AddChild } from './add-child.tsx';
import { ChildrenTable } from './children-table.tsx';
import { EditedChildren } from './edited-children.tsx';
import { KIND, useComposite, useConfigurations } from './shared.tsx';

interface Props {
  name: string;
  version: string;
}

export function CompositeDraftPage({ name, version }: Props) {
  const place = usePlace();
  const composite = useComposite(name);
  const draft = useResource<CompositeVersion>(apiOf(KIND, name, 'versions', version));
  const [isLeaving, setLeaving] = useState(false);
  const isPublished = draft.data?.status === 'Published';
  return (
    <Page
      heading={`${name} ${version}`}
      of={[composite, draft]}
      isEmpty={draft.data?.items.length === 0}
      crumbs={crumbsOf(KIND, name)}
      beside={draft.data !== null && <VersionMark version={draft.data} />}
      actions={
        !isPublished && (
          <>
            {reasonAgainst(KIND, 'delete', composite.data) === null && (
              <button type="button" onClick={() => setLeaving(true)}>
                Delete draft
              </button>
            )}
            <a class="button primary" href={links.review(KIND, name, version)}>
              Review
            </a>
          </>
        )
      }
    >
      {isPublished ? (
        <PublishedNote {...{ kind: KIND, name, version }} />
      ) : (
        <Content {...{ name, version, composite, draft }} />
      )}
      {isLeaving && (
        <DeleteDraftDialog
          {...{ kind: KIND, name, version, etag: draft.etag }}
          onDeleted={() => place.go(links.named(KIND, name))}
          onClose={() => setLeaving(false)}
        />
      )}
    </Page>
  );
}

interface ContentProps extends Props {
  composite: Resource<CompositeDetails>;
  draft: Resource<CompositeVersion>;
}

function Content({
  name,
  version,
  composite: { data: composite },
  draft: { data: draft, etag },
}: ContentProps) {
  const configurations = useConfigurations();
  if (composite === null || draft === null) return null;
  const reason = reasonAgainst(KIND, 'change', composite);
  return (
    <>
      <VersionFacts
        version={draft}
        below={versionBelow(composite.versions, version)}
        compareUrl={(from) => links.compare(KIND, name, from, version)}
      >
        <dt>Entry point</dt>
        <dd>
          <code>{composite.entryPoint}</code>
        </dd>
      </VersionFacts>
      {reason !== null && <p class="warning">{reason}</p>}
      <section class="part">
        <h2>Children</h2>
        {reason === null ? (
          <>
            <EditedChildren {...{ name, draft, etag, configurations }} />
            <h3>Add a child</h3>
            <AddChild {...{ name, draft, configurations }} />
          </>
        ) : (
          <ChildrenTable
            items={draft.items}
            configurations={configurations}
            none={<p>This version has no children yet.</p>}
          />
        )}
      </section>
    </>
  );
}
