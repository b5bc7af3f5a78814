/** Nodes whose name contains what somebody types, for fields that take the name of a node. */

import { useEffect, useState } from 'preact/hooks';
import { withQuery } from '../../links.ts';
import { useResource } from '../../resource.ts';
import { can } from '../../session.ts';
import type { NodeSummary } from '../../types.ts';

/** In milliseconds: it is asked when somebody stops typing. */
const TYPING_PAUSE = 250;

/** @param typed null: the field takes no node */
export function useNodeProposals(typed: string | null): readonly NodeSummary[] {
  const [asked, setAsked] = useState(typed);
  useEffect(() => {
    const timer = setTimeout(() => setAsked(typed), TYPING_PAUSE);
    return () => clearTimeout(timer);
  }, [typed]);
  const isAsked = asked !== null && can('nodes.read');
  const path = withQuery('/nodes', { fqdn: asked?.trim().toLowerCase() ?? '', take: 20 });
  return useResource<NodeSummary[]>(isAsked ? path : null, { poll: false }).data ?? [];
}
