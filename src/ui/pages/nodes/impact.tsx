/** What a deed would do to the chosen nodes, asked for before it is done. */

import { PreviewImpact } from '../../components/preview.tsx';
import type { NodeDetails, PreviewChange } from '../../types.ts';
import type { Action, Targets } from './targets.ts';

/** The API takes so many nodes in one change of a preview. */
const MOST_NODES = 1_000;

interface ImpactProps {
  action: Exclude<Action, 'Delete'>;
  targets: Targets;
  members: Readonly<Record<string, unknown>>;
  /** A field is still empty. */
  isDisabled: boolean;
  node: NodeDetails | undefined;
}

export function Impact({ action, targets: { ids }, members, isDisabled, node }: ImpactProps) {
  const isTooMany = ids === null || ids.length > MOST_NODES;
  const change = { kind: action, nodeIds: ids ?? [], ...members } as PreviewChange;
  return (
    <PreviewImpact
      changes={[change]}
      // Of one node its merged parameters can be shown.
      nodeIds={node && [node.id]}
      paramName={null}
      isDisabled={isDisabled}
      reason={
        isTooMany ? `A preview takes at most ${MOST_NODES} nodes, chosen one by one or page by page.` : null
      }
    />
  );
}
