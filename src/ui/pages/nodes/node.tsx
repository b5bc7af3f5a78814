/** One node: what it should get against what it runs, its certificate, its tags, and how it is run. */

import { useDeed } from '../../components/dialog.tsx';
import { Mark, StatusMark } from '../../components/marks.tsx';
import { Problem } from '../../components/problem.tsx';
import { Time } from '../../components/time.tsx';
import { save } from '../../download.ts';
import { apiPath } from '../../links.ts';
import { useResource } from '../../resource.ts';
import type { LcmConfig, NodeDetails } from '../../types.ts';
import { CertificateCard, FactsCard, TagsCard } from './cards.tsx';
import { NodeFrame, useNode } from './frame.tsx';
import { LcmCard } from './lcm.tsx';
import { useOffered, useParts } from './parts.ts';
import { StandingCard } from './standing-card.tsx';

export function NodePage({ id }: { id: string }) {
  const node = useNode(id);
  const lcm = useResource<LcmConfig>(`/nodes${apiPath(id)}/lcm-config`);
  const parts = useParts(node.data);
  const offered = useOffered(node.data, parts);
  // It is read before it is saved, so that a refusal is shown here and does not become a file.
  const bundle = useDeed(async () => {
    const name = node.data?.fqdn ?? id;
    await save(`/nodes${apiPath(id)}/configuration/bundle`, 'application/zip', `${name}.zip`);
    return null;
  });
  return (
    <NodeFrame
      {...{ id, node }}
      tab="Overview"
      of={[lcm]}
      isBusy={offered.isBusy}
      actions={
        offered.checksum !== null && (
          <button
            type="button"
            disabled={bundle.isBusy}
            aria-busy={bundle.isBusy}
            onClick={() => void bundle.start()}
          >
            Download bundle
          </button>
        )
      }
      tools={bundle.problem !== null && <Problem problem={bundle.problem} />}
    >
      {(shown) => (
        <>
          {shown.assignment?.pinnedToWithdrawn && <Pinned />}
          {shown.statusCause !== null && <Cause node={shown} />}
          <StandingCard node={shown} parts={parts} offered={offered.checksum} />
          {offered.resource.problem !== null && <Problem problem={offered.resource.problem} />}
          <div class="columns">
            <LcmCard node={shown} inForce={lcm.data} />
            <TagsCard node={shown} />
            <CertificateCard certificate={shown.certificate} />
            <FactsCard node={shown} />
          </div>
        </>
      )}
    </NodeFrame>
  );
}

function Pinned() {
  return (
    <p class="away">
      <Mark word="Withdrawn" tone="warn" /> The node is pinned to a version that has been withdrawn. It gets
      it still.
    </p>
  );
}

/** Why it is not well, and since when. */
function Cause({ node: { status, statusSince, statusReason } }: { node: NodeDetails }) {
  return (
    <p class="away">
      <StatusMark status={status} /> {statusReason}{' '}
      <span class="muted">
        since <Time at={statusSince} exact />
      </span>
    </p>
  );
}
