/** Asks the rules of publishing about a version, without the lock and without publishing it. */

import type { ConfigurationTools } from '../../deeds/create-draft.ts';
import { judgeDraft } from '../../deeds/publish.ts';
import { findingsInHistory, withObstacles } from '../../deeds/publish-obstacles.ts';
import type { Finding } from '../../domain/findings.ts';
import { notFound } from '../../lib/errors.ts';
import { type Compatibility, NOT_COMPARED } from '../../resolve/schema-compatibility.ts';
import type { GrantedResource } from '../../security/access.ts';
import type { UserPrincipal } from '../../security/principal.ts';
import { rolloutBlocker } from '../../versions/rollout-rules.ts';
import { notFoundIfDeleted, requireRow } from '../../versions/rows.ts';
import { findBlockers } from '../../versions/rules.ts';
import { toPublishCheck } from '../shared/publish-check.ts';

/** @throws HawserError not_found without such a version */
export function checkPublish(
  tools: ConfigurationTools,
  { id, name }: GrantedResource,
  { version, now }: { version: string; now: number },
  caller: UserPrincipal,
) {
  const { database, store } = tools;
  return notFoundIfDeleted(database, 'configurations', id, async () => {
    const row = await requireRow(database.read, 'configurations', id);
    const repository = { kind: 'configurations', name } as const;
    const index = await store.versions(repository);
    const ref = index.get(version);
    if (ref === undefined) throw notFound('No such version');
    let judged: Compatibility = NOT_COMPARED;
    let inHistory: readonly Finding[] = [];
    const found = await findBlockers(ref, async () => {
      judged = await judgeDraft(tools, row, ref, { principal: caller, now });
      inHistory = await findingsInHistory(store, name, index, await store.details(repository, ref));
      return judged.blockers;
    });
    const rolling = rolloutBlocker(index, ref.version);
    const deed = { kind: 'PublishConfiguration', configurationName: name, version } as const;
    const blockers = await withObstacles(tools, { deed, rolling, ref, now }, found);
    const comparedWith = index.highestPublishedBelow(ref)?.version ?? null;
    const findings = [...inHistory, ...judged.findings];
    return toPublishCheck({ blockers, findings, compatibility: await judged.report(), comparedWith });
  });
}
