/** Publishes a version of a configuration, and tells what publishing would meet. */

import type { Finding } from '../domain/findings.ts';
import type { Compatibility } from '../resolve/schema-compatibility.ts';
import type { UserPrincipal } from '../security/principal.ts';
import { authorVersions } from '../versions/author.ts';
import type { ResourceTools } from '../versions/resources.ts';
import type { ConfigurationRow } from '../versions/rows.ts';
import type { VersionDetails, VersionRef } from '../versions/store.ts';
import { judgingBy, readEffectiveSettings } from './configuration-settings.ts';
import type { ConfigurationTarget, ConfigurationTools } from './create-draft.ts';
import { requireDoneAlone } from './protection.ts';
import { findingsInHistory } from './publish-obstacles.ts';
import { type SignatureTools, signatureBlocker } from './required-signatures.ts';

/**
 * Publishes a draft.
 * @returns what the answer shows, with what was found in its entry point and in the history of the draft
 * @throws HawserError not_found without such a version; the first of its blockers; conflict `draft_changed`,
 *   `change_set_required`
 */
export async function publishVersion(
  tools: ResourceTools & Pick<ConfigurationTools, 'compatibility'> & SignatureTools,
  target: ConfigurationTarget,
  version: string,
  message?: string,
): Promise<{ details: VersionDetails; findings: readonly Finding[] }> {
  const { store, log } = tools;
  const { name } = target.resource;
  let commit = '';
  let findings: readonly Finding[] = [];
  const details = await authorVersions(tools, target, async (author, row) => {
    const deed = { kind: 'PublishConfiguration', configurationName: name, version } as const;
    await requireDoneAlone(tools, target.actor, deed);
    const { principal, actor } = target;
    const rules = async (ref: VersionRef) => {
      const judged = await judgeDraft(tools, row, ref, { principal, now: actor.at });
      [commit, findings] = [ref.oid, judged.findings];
      return judged.blockers;
    };
    return author.publish(version, rules, { message });
  });
  try {
    const index = await store.versions({ kind: 'configurations', name });
    const draft = { commit, entryPoint: details.entryPoint };
    findings = [...(await findingsInHistory(store, name, index, draft)), ...findings];
  } catch (error) {
    // The version is published all the same.
    log.warn({ err: error, configuration: name, version }, 'a history cannot be read');
  }
  return { details, findings };
}

/**
 * What publishing a draft meets. dsc must be able to read its document. Where the server manages the configuration's
 * parameters, the `parameters` block must be compatible with the version before it, and in mode Strict it must be readable.
 * Where versions must be signed, the tag that is kept beside the draft must be.
 */
export async function judgeDraft(
  tools: Pick<ConfigurationTools, 'compatibility'> & SignatureTools,
  row: ConfigurationRow,
  ref: VersionRef,
  { principal, now }: { principal: Pick<UserPrincipal, 'userId'>; now: number },
): Promise<Compatibility> {
  const settings = await readEffectiveSettings(tools.database.read, row.id);
  const judging = judgingBy(row, settings, principal.userId);
  const judged = await tools.compatibility.judgeDraft(row.name, ref.version, judging);
  const unsigned = await signatureBlocker(tools, { resource: row, ref, now });
  return unsigned === null ? judged : { ...judged, blockers: [...judged.blockers, unsigned] };
}
