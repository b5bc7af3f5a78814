/** Makes the scopes, configurations, parameters and the composite of the seeded site. */

import type { Client } from '../../../test/support/client.ts';
import {
  addChild,
  addCompositeDraft,
  createComposite,
  publishComposite,
} from '../../../test/support/composites.ts';
import { addVersion, create, publish, versionsOf } from '../../../test/support/configurations.ts';
import { configurationId } from '../../../test/support/parameter-files.ts';
import { ok } from '../../../test/support/replies.ts';
import { DEFAULT_ID, NODE_ID, SCOPE_TYPES } from '../../../test/support/scopes.ts';
import {
  BASELINE_VERSIONS,
  DATABASE_VERSIONS,
  INVENTORY_VERSIONS,
  type SeedVersion,
  SHOP_DRAFT,
  SHOP_PRERELEASE,
  SHOP_VERSIONS,
} from './files.ts';
import { DATABASE_PARAMETERS, type SeedParameters, SHOP_PARAMETERS } from './parameters.ts';
import { ENVIRONMENTS, PINNED_VERSION, REGIONS } from './plan.ts';

export interface Scopes {
  /** The ids of the scope types by name. */
  types: Record<string, string>;
  /** The ids of their values, such as `Region/eu`. */
  values: Record<string, string>;
}

export const COMPOSITE = 'shop-server';

export async function makeScopes(admin: Client): Promise<Scopes> {
  const scopes: Scopes = { types: { Default: DEFAULT_ID, Node: NODE_ID }, values: {} };
  for (const [name, description, values] of [
    ['Region', 'Where the machine stands.', REGIONS],
    ['Environment', 'What it is used for.', ENVIRONMENTS],
  ] as const) {
    const type = { name, description, valueMode: 'Restricted' };
    const { id } = await ok(201, admin.post(SCOPE_TYPES, type));
    scopes.types[name] = id;
    for (const value of values) {
      const made = await ok(201, admin.post(`${SCOPE_TYPES}/${id}/values`, { value }));
      scopes.values[`${name}/${value}`] = made.id;
    }
  }
  return scopes;
}

/** Makes all versions that are there before the nodes come. The newest of `shop` comes later. */
export async function makeConfigurations(author: Client): Promise<Record<string, string>> {
  const sites: [name: string, description: string, versions: readonly SeedVersion[], entryPoint?: string][] =
    [
      ['shop', 'Web servers of the shop', SHOP_VERSIONS.slice(0, -1)],
      ['database', 'PostgreSQL and its replicas', DATABASE_VERSIONS],
      ['os-baseline', 'What every Windows machine must have', BASELINE_VERSIONS],
      ['inventory', 'Only looks, changes nothing', INVENTORY_VERSIONS, 'main.dsc.json'],
    ];
  const ids: Record<string, string> = {};
  for (const [name, description, [first, ...rest], entryPoint] of sites) {
    if (!first) continue;
    const { version, message, files } = first;
    const more = entryPoint === undefined ? {} : { entryPoint };
    await ok(201, create(author, name, { description, version, message, ...more }, { files }));
    await ok(200, publish(author, name, version));
    for (const next of rest) await publishNext(author, name, next);
    ids[name] = await configurationId(author, name);
  }
  return ids;
}

/** Publishes the newest version of `shop` and its prerelease, withdraws one, and makes drafts. */
export async function finishConfigurations(author: Client): Promise<void> {
  const newest = SHOP_VERSIONS.at(-1);
  if (newest) await publishNext(author, 'shop', newest);
  await publishNext(author, 'shop', SHOP_PRERELEASE);
  const reason = 'The workers need more memory than the machines have.';
  await ok(200, author.put(`${versionsOf('shop')}/${PINNED_VERSION}/withdraw`, { reason }));
  await addDraft(author, 'shop', SHOP_DRAFT);
  const files = { ...DATABASE_VERSIONS.at(-1)?.files, 'postgresql.conf': 'shared_buffers = 8GB\n' };
  await addDraft(author, 'database', { version: '2.1.0', message: 'More memory for queries.', files });
}

async function publishNext(author: Client, name: string, version: SeedVersion): Promise<void> {
  await addDraft(author, name, version);
  await ok(200, author.put(`${versionsOf(name)}/${version.version}/publish`, { message: version.message }));
}

async function addDraft(author: Client, name: string, version: SeedVersion): Promise<void> {
  const { version: number, message, files } = version;
  await ok(201, addVersion(author, name, { version: number, message }, { files }));
}

/**
 * Makes the published files, or those that stay drafts. The nodes that have files of their own must be registered, and
 * drafts use parameters of the newest versions.
 */
export async function makeParameters(
  author: Client,
  scopes: Scopes,
  configurations: Record<string, string>,
  status: 'Published' | 'Draft',
): Promise<void> {
  const all: [name: string, files: readonly SeedParameters[]][] = [
    ['shop', SHOP_PARAMETERS],
    ['database', DATABASE_PARAMETERS],
  ];
  for (const [name, files] of all) {
    for (const { scope, value, version, content, isDraft } of files) {
      if (Boolean(isDraft) !== (status === 'Draft')) continue;
      const path = `/api/v1/parameters/${scopes.types[scope]}/${configurations[name]}`;
      const contentType = content?.startsWith('{') ? 'application/json' : 'application/yaml';
      const kind = content === null ? { isPassthrough: true } : { content, contentType };
      await ok(
        201,
        author.put(path, { version, ...(value !== undefined && { scopeValue: value }), ...kind }),
      );
      const query = value === undefined ? '' : `?scopeValue=${value}`;
      if (!isDraft) await ok(200, author.put(`${path}/versions/${version}/publish${query}`));
    }
  }
}

/** A composite with a pinned child and one that follows, published, and a draft that pins another version. */
export async function makeComposite(author: Client): Promise<void> {
  await ok(
    201,
    createComposite(author, COMPOSITE, { description: 'The baseline and the web servers of the shop' }),
  );
  for (const [version, pin] of [
    ['1.0.0', '1.0.0'],
    ['1.1.0', '1.0.1'],
  ] as const) {
    await ok(201, addCompositeDraft(author, COMPOSITE, version));
    await ok(201, addChild(author, COMPOSITE, version, 'os-baseline', { activeVersion: '1.0.0', order: 0 }));
    await ok(201, addChild(author, COMPOSITE, version, 'shop', { order: 1 }));
    if (pin === '1.0.0') await ok(200, publishComposite(author, COMPOSITE, version));
  }
  await ok(201, addChild(author, COMPOSITE, '1.1.0', 'inventory', { activeVersion: '2.0.0', order: 2 }));
}
