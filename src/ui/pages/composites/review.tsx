/** The review of a composite's draft: its changes against the version below, the check, whom it touches, and publishing. */

import { send } from '../../client.ts';
import { AddToChange } from '../../components/add-to-change.tsx';
import { crumbsOf, PublishedNote, reasonAgainst } from '../../components/draft-parts.tsx';
import { Page, Part } from '../../components/page.tsx';
import { PreviewImpact } from '../../components/preview.tsx';
import {
  OF_DEEDS_ALONE,
  OldNote,
  PublishBox,
  ReviewLayout,
  reasonOfCheck,
  useReviewed,
} from '../../components/review.tsx';
import { RollOut } from '../../components/roll-out.tsx';
import { VersionMark } from '../../components/version-mark.tsx';
import { apiOf, links, withQuery } from '../../links.ts';
import { type Resource, useResource } from '../../resource.ts';
import { usePlace } from '../../router.ts';
import type { CompositeComparison, CompositeDetails, CompositeVersion, PublishCheck } from '../../types.ts';
import { ChangedChildren } from './changed-children.tsx';
import { KIND, useComposite } from './shared.tsx';

interface Props {
  name: string;
  version: string;
}

export function CompositeReviewPage({ name, version }: Props) {
  const composite = useComposite(name);
  const draft = useResource<CompositeVersion>(apiOf(KIND, name, 'versions', version));
  return (
    <Page
      heading={`Review ${name} ${version}`}
      of={[composite, draft]}
      crumbs={[...crumbsOf(KIND, name), { href: links.draft(KIND, name, version), label: version }]}
      beside={draft.data !== null && <VersionMark version={draft.data} />}
    >
      {draft.data?.status === 'Published' ? (
        <PublishedNote {...{ kind: KIND, name, version }} />
      ) : (
        <Review {...{ name, version, composite, draft }} />
      )}
    </Page>
  );
}

interface ReviewProps extends Props {
  composite: Resource<CompositeDetails>;
  draft: Resource<CompositeVersion>;
}

function Review({ name, version, composite, draft }: ReviewProps) {
  const place = usePlace();
  const path = apiOf(KIND, name, 'versions', version);
  // What is reviewed stays on the page until somebody asks for what it is now.
  const comparison = useResource<CompositeComparison>(
    withQuery(apiOf(KIND, name, 'compare'), { to: version }),
    { poll: false },
  );
  const check = useResource<PublishCheck>(`${path}/publish-check`);
  const shown = comparison.data?.to.commit ?? null;
  const { etag, isOld, showNow } = useReviewed({ draft, shown, of: [comparison, check] });
  const publish = async (message: string) => {
    const body = message === '' ? {} : { message };
    await send('PUT', `${path}/publish`, body, { ifMatch: etag });
    return `${name} ${version} is published. Nodes get it at their next poll.`;
  };
  const reasonBut = (...codes: readonly string[]) =>
    reasonAgainst(KIND, 'publish', composite.data) ??
    reasonOfCheck(check, ...codes) ??
    (etag === null ? 'The changes are being read.' : null);
  return (
    <>
      <OldNote isOld={isOld} showNow={showNow} />
      <ReviewLayout
        changes={<Part of={comparison}>{(data) => <ChangedChildren comparison={data} />}</Part>}
        check={check}
        configurationName={null}
        impact={<PreviewImpact changes={[{ kind: 'PublishComposite', compositeName: name, version }]} />}
        publish={
          <>
            <PublishBox
              version={version}
              reason={reasonBut()}
              run={publish}
              onPublished={() => place.go(links.version(KIND, name, version))}
              onReload={showNow}
            />
            <AddToChange
              title={`Publish ${name} ${version}`}
              deeds={() => [{ kind: 'PublishComposite', compositeName: name, version }]}
              reason={reasonOfCheck(check, ...OF_DEEDS_ALONE)}
            />
            <RollOut kind={KIND} {...{ name, version, etag }} reason={reasonBut('rollout_running')} />
          </>
        }
      />
    </>
  );
}
