/** What publishing a version means for the parameter files that are stored. */

import type { ConfigurationTools } from '../../deeds/create-draft.ts';
import type { AffectedParameterFile } from '../../domain/compatibility.ts';
import { type Answer, json, jsonWithList } from '../../http/answer.ts';
import type { UserPrincipal } from '../../security/principal.ts';
import { findRow } from '../../versions/rows.ts';

interface PublishedVersion {
  resource: { id: string; name: string };
  principal: UserPrincipal;
  version: string;
}

/**
 * The answer to publishing: the version, and `affectedParameterFiles`, the files that do not fit it. The version is
 * published already, so a failure to read the files fails nothing: the member is null then.
 * @param shown is the version as it is shown
 */
export async function withAffectedFiles(
  tools: ConfigurationTools,
  published: PublishedVersion,
  shown: Readonly<Record<string, unknown>>,
): Promise<Answer> {
  const files = await affectedFiles(tools, published);
  if (files === null) return json({ ...shown, affectedParameterFiles: null });
  // There may be a file for each node, so the list is written out in steps. Its validator is not that of the version.
  const { etag: _ofTheList, ...answer } = await jsonWithList(shown, 'affectedParameterFiles', files);
  return answer;
}

async function affectedFiles(
  { database, compatibility, log }: ConfigurationTools,
  { resource: { id, name }, principal, version }: PublishedVersion,
): Promise<AffectedParameterFile[] | null> {
  try {
    const row = await findRow(database.read, 'configurations', id);
    if (row?.use_server_managed_parameters !== 1) return [];
    return await compatibility.affectedFiles(name, version, principal.userId);
  } catch (error) {
    log.warn(
      { err: error, configuration: name, version },
      'the parameter files of a new version cannot be checked',
    );
    return null;
  }
}
