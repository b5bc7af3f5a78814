/** Nodes whose name contains what somebody types, for fields that take the name of a node. */

import { useEffect, useState } from 'preact/hooks';
import { withQuery } from '../../links.ts';
import { useResource } from '../../resource.ts';
import { can } from '../../session.ts';
import type { NodeSummary } from '../../types.ts';

/** In milliseconds: it is asked when somebody stops typing. */
const TYPING_PAUSE = 250;

/** @param typed null, or nothing: nobody looks for a node */
export function useNodeProposals(typed: string | null): readonly NodeSummary[] {
  const [asked, setAsked] = useState(typed);
  useEffect(() => {
    const timer = setTimeout(() => setAsked(typed), TYPING_PAUSE);
    return () => clearTimeout(timer);
  }, [typed]);
  const wanted = asked?.trim().toLowerCase() ?? '';
  const path = withQuery('/nodes', { fqdn: wanted, take: 20 });
  return (
    useResource<NodeSummary[]>(wanted !== '' && can('nodes.read') ? path : null, { poll: false }).data ?? []
  );
}
