/** What publishing a version of a composite would answer, shown without publishing. */

import { type CompositeTools, judgeDraft } from '../../deeds/publish-composite.ts';
import { withObstacles } from '../../deeds/publish-obstacles.ts';
import type { Finding } from '../../domain/findings.ts';
import { notFound } from '../../lib/errors.ts';
import type { UserPrincipal } from '../../security/principal.ts';
import { rolloutBlocker } from '../../versions/rollout-rules.ts';
import { findBlockers } from '../../versions/rules.ts';
import type { SortedVersions } from '../../versions/sorted-versions.ts';
import { toPublishCheck } from '../shared/publish-check.ts';

/** Shows what publishing a version would answer. @throws HawserError not_found without such a version */
export async function checkPublish(
  tools: CompositeTools,
  name: string,
  index: SortedVersions,
  { version, now }: { version: string; now: number },
  caller: UserPrincipal,
) {
  const ref = index.get(version);
  if (ref === undefined) throw notFound('No such version');
  let findings: readonly Finding[] = [];
  const found = await findBlockers(ref, async (draft) => {
    const judged = await judgeDraft(tools, name, draft, caller);
    findings = judged.findings;
    return judged.blockers;
  });
  const rolling = rolloutBlocker(index, ref.version);
  const deed = { kind: 'PublishComposite', compositeName: name, version } as const;
  const blockers = await withObstacles(tools, { deed, rolling, ref, now }, found);
  const comparedWith = index.highestPublishedBelow(ref)?.version ?? null;
  return toPublishCheck({ blockers, findings, compatibility: null, comparedWith });
}
