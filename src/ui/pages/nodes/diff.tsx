/** What a node runs against what it is offered: files and parameters. What cannot be told is said. */

import { DiffModeChoice } from '../../components/diff-mode.tsx';
import { Empty } from '../../components/empty.tsx';
import { Mark } from '../../components/marks.tsx';
import { Skeleton } from '../../components/page.tsx';
import { apiPath, withQuery } from '../../links.ts';
import { useResource, useResources } from '../../resource.ts';
import type { Manifest, NodeDetails, Resolution } from '../../types.ts';
import { NodeFrame, useNode } from './frame.tsx';
import { PartDiff } from './part-diff.tsx';
import { type Offered, type Parts, useOffered, useParts } from './parts.ts';
import { compareParts, isEqual } from './sides.ts';
import { StandingCard } from './standing-card.tsx';

export function NodeDiffPage({ id }: { id: string }) {
  const node = useNode(id);
  const parts = useParts(node.data);
  const offered = useOffered(node.data, parts);
  const isBusy = parts.isBusy || offered.isBusy;
  const isSame = offered.checksum !== null && offered.checksum === node.data?.running?.checksum;
  const reason = node.data === null || isBusy ? null : whyNothing(node.data, parts, offered);
  return (
    <NodeFrame id={id} tab="Diff" node={node} isBusy={isBusy} isEmpty={reason !== null && !isSame}>
      {(shown) => (
        <>
          <StandingCard node={shown} parts={parts} offered={offered.checksum} isWithLink={false} />
          {reason !== null && (
            <Empty>
              <p>{reason}</p>
            </Empty>
          )}
          {!isBusy && reason === null && <Differences node={shown} parts={parts} />}
        </>
      )}
    </NodeFrame>
  );
}

/** Why there is nothing to compare; null where there is. */
function whyNothing({ assignment, running }: NodeDetails, parts: Parts, offered: Offered): string | null {
  if (assignment === null) return 'Nothing is assigned to this node, so there is nothing to compare with.';
  if (assignment.resolvedVersion === null)
    return 'No published version fits, so there is nothing to compare with.';
  if (running === null) return 'Nothing is known yet about what this node runs.';
  if (!parts.isReadable)
    return `You may not read all of ${assignment.configurationName} and its parameters, so the differences are not shown.`;
  if (offered.checksum === null)
    return offered.resource.problem?.detail ?? 'What the node is offered cannot be read.';
  if (offered.checksum === running.checksum)
    return 'The checksums are equal: it has exactly the files and parameters that it is offered.';
  if (running.configurationName === null)
    return 'The server keeps no manifest of what this node runs any more, so the differences cannot be told.';
  return null;
}

function Differences({ node, parts }: { node: NodeDetails; parts: Parts }) {
  const all = parts.parts ?? [];
  const manifest = useResource<Manifest>(`/manifests${apiPath(node.running?.checksum ?? '')}`, {
    poll: false,
  });
  const resolutions = useResources<Resolution>(
    all.map(({ configurationId }) =>
      withQuery(`/nodes${apiPath(node.id)}/parameters/resolution`, { configurationId }),
    ),
  );
  if (manifest.problem !== null)
    return (
      <Empty>
        <p>
          The manifest of what this node runs cannot be read: it is gone, or you may not read all of it. So
          the differences cannot be told.
        </p>
      </Empty>
    );
  const offered = all.flatMap(({ name }, at) => {
    const resolution = resolutions[at]?.data ?? null;
    return resolution === null ? [] : [{ name, resolution }];
  });
  if (manifest.data === null || offered.length < all.length)
    return (
      <div aria-busy="true">
        <Skeleton />
      </div>
    );
  const compared = compareParts(manifest.data, offered);
  return (
    <>
      <div class="bar">
        <span class="bulk-deeds">
          <DiffModeChoice />
        </span>
      </div>
      {compared.every(isEqual) && (
        <p>
          <Mark word="Same versions" tone="info" /> All versions of configurations and parameter files are the
          same. What else makes the checksums differ cannot be told from them.
        </p>
      )}
      {compared.map((part) => (
        <PartDiff key={part.name} part={part} isComposite={node.assignment?.isComposite === true} />
      ))}
    </>
  );
}
