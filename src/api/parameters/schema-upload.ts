/** Uploading a schema: judged and kept under the lock of the configuration's parameters. */

import { sameVersion } from '../../domain/version-order.ts';
import { refuseGone } from '../../lib/client-gone.ts';
import { conflict } from '../../lib/errors.ts';
import { sha256Hex } from '../../lib/hash.ts';
import type { CompatibilityGuard } from '../../resolve/compatibility.ts';
import { recordAudit } from '../../security/audit.ts';
import type { LockedParameters } from '../../versions/store.ts';
import { noteParameters } from '../configurations/queries.ts';
import type { ParameterTools } from './checks.ts';
import type { ReadContent } from './content.ts';
import { exclusively, type FileTarget } from './files.ts';

export type SchemaTools = ParameterTools & { compatibility: CompatibilityGuard };

/**
 * Keeps the schema that the document's `parameters` block defines, in place of an earlier one of the version. What
 * is there to the byte is not written again.
 * @returns the JSON Schema that it is, as JSON
 * @throws HawserError invalid for the block; not_found without the configuration; conflict `version_exists` for a
 *   version that differs in build metadata alone, `incompatible_parameters` with `compatibilityReport`
 */
export async function uploadSchema(
  tools: SchemaTools,
  target: FileTarget,
  version: string,
  content: ReadContent,
): Promise<string> {
  const { name } = target.resource;
  const caller = target.principal.userId;
  const { document: schema } = content;
  await tools.documents.run(caller, 'requireDefinitions', { schema });
  await exclusively(tools, target.resource, async (locked) => {
    const before = await earlier(tools, name, locked, version);
    if (before?.contentType === content.type && before.sha256 === sha256Hex(content.bytes)) return;
    await tools.compatibility.requireUploadable(name, { version, schema, caller });
    refuseGone(target.gone);
    await keep(tools, target, locked, { version, content, replaced: before?.commit ?? null });
  });
  return tools.documents.run(caller, 'printJsonSchema', { schema });
}

async function earlier({ store }: SchemaTools, name: string, { index }: LockedParameters, version: string) {
  const ref = index.schemas().find((each) => sameVersion(each.version, version));
  if (ref === undefined) return null;
  if (ref.version !== version)
    throw conflict('version_exists', `Version ${ref.version} has a schema already`);
  return store.parameters.details(name, ref);
}

async function keep(
  { database }: SchemaTools,
  { resource, principal, actor }: FileTarget,
  locked: LockedParameters,
  { version, content, replaced }: { version: string; content: ReadContent; replaced: string | null },
): Promise<void> {
  const { type, bytes } = content;
  const author = { name: principal.username, email: principal.email };
  const { commit } = await locked.putSchema({ version, content: { type, bytes }, author, at: actor.at });
  await database.write.transaction().execute(async (trx) => {
    await noteParameters(trx, resource.id);
    await recordAudit(trx, actor, {
      action: 'parameters.schema_uploaded',
      resourceId: resource.id,
      details: { name: resource.name, version, commit, replaced },
    });
  });
}
