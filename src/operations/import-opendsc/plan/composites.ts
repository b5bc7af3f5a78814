/** Composites and their versions. */

import { NewComposite } from '../../../api/composite-configurations/schemas.ts';
import {
  type CompositeDocument,
  parseComposite,
  printComposite,
} from '../../../domain/composite-document.ts';
import { normalizePath } from '../../../domain/safe-path.ts';
import { isVersion } from '../../../domain/version-order.ts';
import { groupBy } from '../../../lib/group-by.ts';
import { unpublishedChild } from '../../../versions/rules.ts';
import type { SourceComposite, SourceCompositeItem, SourceCompositeVersion } from '../source/site.ts';
import { KnownVersions } from './known-versions.ts';
import { here, LeftOut, made, type Plan, requireFreeId, requireSame, type Standing } from './plan.ts';
import { judgeVersionHere } from './versions.ts';

/** The key of a composite's versions in the plan, which no configuration has. */
export const compositeKey = (name: string) => `composite ${name}`;

export function planComposites(plan: Plan): void {
  const { site, here: own } = plan.input;
  plan.judge('composites', site.composites, {
    id: ({ id }) => id,
    name: ({ name }) => name,
    judge: (composite) => judgeComposite(plan, composite),
  });
  for (const { name, versions } of own.composites) {
    plan.versions.set(compositeKey(name), new KnownVersions(versions.values()));
    for (const { version, document } of versions.values())
      if (document) plan.documents.set(`${name} ${version}`, document);
  }
  planVersions(plan);
}

function judgeComposite(plan: Plan, { id, name, description, entryPoint: raw, createdAt }: SourceComposite) {
  const { here: own, now } = plan.input;
  NewComposite.parse({ name, description, entryPoint: raw });
  const entryPoint = normalizePath(raw);
  const key = name.toLowerCase();
  plan.once('composites', key);
  const row = own.composites.find((each) => each.name.toLowerCase() === key);
  if (row !== undefined) {
    requireSame(row, { name, entryPoint, description }, { id: row.id, name });
    return here({ id: row.id, name });
  }
  requireFreeId(id, own.composites, (each) => each.name);
  const settings = { description, useServerManagedParameters: false, entryPoint };
  const resource = { kind: 'composites', id, name, ...settings, draft: null } as const;
  return made({ do: 'createResource', resource, madeAt: createdAt ?? now }, { id, name });
}

function planVersions(plan: Plan): void {
  const { site } = plan.input;
  const composites = new Map(site.composites.map((each) => [each.id, each]));
  const versions = new Set(site.versions.map((each) => `${each.configurationId} ${each.version}`));
  const items = groupBy(site.compositeItems, (item) => item.compositeConfigurationVersionId);
  plan.judge('composite versions', site.compositeVersions, {
    name: ({ compositeConfigurationId: id, version }) => `${composites.get(id)?.name ?? id} ${version}`,
    judge(version) {
      const composite = plan.require('composites', version.compositeConfigurationId);
      const entryPoint = normalizePath(composites.get(version.compositeConfigurationId)?.entryPoint ?? '');
      const document = documentOf(plan, { entryPoint, versions }, items.get(version.id) ?? []);
      return judgeVersion(plan, version, composite, document);
    },
  });
}

/** @throws LeftOut where a child is not here */
function documentOf(
  plan: Plan,
  { entryPoint, versions }: { entryPoint: string; versions: ReadonlySet<string> },
  items: readonly SourceCompositeItem[],
): CompositeDocument {
  const children = items.map(({ id, childConfigurationId, activeVersion: version, order }) => {
    const { name: configuration } = plan.require('configurations', childConfigurationId);
    if (version !== null && plan.versionsOf(configuration).get(version) === undefined) {
      const fate = versions.has(`${childConfigurationId} ${version}`)
        ? 'is left out'
        : 'does not exist there';
      throw new LeftOut(`The version ${version} of its child ${configuration} ${fate}`);
    }
    // Its major is set by no route there, and ignored when nodes are served.
    return { id, configuration, version, majorVersion: null, order };
  });
  const document = parseComposite(printComposite({ entryPoint, children }));
  if (document === null)
    throw new LeftOut('Two of its children are one configuration, or the folder of one is the entry point');
  return document;
}

function judgeVersion(
  plan: Plan,
  source: SourceCompositeVersion,
  composite: Standing,
  document: CompositeDocument,
) {
  const { here: own, skip } = plan.input;
  const { version, status } = source;
  if (!isVersion(version)) throw new LeftOut('Not a SemVer 2.0 version such as 1.2.0');
  if (status === 'Published') requirePublishedChildren(plan, document);
  // The ids of children only name them in the API.
  const plain = (given: CompositeDocument | null) => given?.children.map(({ id: _id, ...child }) => child);
  const content = printComposite(document);
  const judged = judgeVersionHere(plan, 'composite versions', {
    ...{ source, series: compositeKey(composite.name) },
    there: own.composites.find(({ name }) => name === composite.name)?.versions.get(version),
    requireSame: (there) => requireSame({ children: plain(there.document) }, { children: plain(document) }),
    deed: (written) => ({ do: 'writeCompositeVersion', composite, content, ...written }),
  });
  if (!skip.has('composite versions')) plan.documents.set(`${composite.name} ${version}`, document);
  return judged;
}

/** The rule for publishing a composite, for versions that are not all here yet. @throws LeftOut */
function requirePublishedChildren(plan: Plan, { children }: CompositeDocument): void {
  if (children.length === 0) throw new LeftOut('A composite without children cannot be published');
  for (const child of children) {
    const { configuration, version } = child;
    const known = plan.versionsOf(configuration);
    if (version === null ? known.hasOffered : known.get(version)?.status === 'Published') continue;
    throw unpublishedChild(child);
  }
}
