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

/**
 * Publishes a draft.
 * @returns what the answer shows, with what was found in its entry point and in the history of the draft
 * @throws HawserError not_found without such a version; the first of its blockers; conflict `draft_changed`,
 *   `change_set_required`
 */
export async function publishVersion(
  tools: ResourceTools & Pick<ConfigurationTools, 'compatibility'>,
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
    const rules = async ({ oid }: VersionRef) => {
      const judged = await judgeDraft(tools, row, version, target.principal);
      [commit, findings] = [oid, judged.findings];
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
 */
export async function judgeDraft(
  { compatibility, database }: Pick<ConfigurationTools, 'compatibility' | 'database'>,
  row: ConfigurationRow,
  version: string,
  { userId: caller }: Pick<UserPrincipal, 'userId'>,
): Promise<Compatibility> {
  const settings = await readEffectiveSettings(database.read, row.id);
  return compatibility.judgeDraft(row.name, version, judgingBy(row, settings, caller));
}
