/** What a node runs beside what it is offered, part by part: versions of configurations and of parameter files. */

import type { Manifest, Resolution } from '../../types.ts';
import { scopeText } from './scope-text.ts';

interface ScopeVersion {
  scopeTypeName: string;
  scopeValue: string | null;
  version: string;
}

export interface Side {
  version: string;
  /** In merge order, without those that set nothing. */
  parameters: readonly ScopeVersion[];
}

/** One configuration on both sides. Null: it is not there on this side. */
export interface ComparedPart {
  name: string;
  /** Null where only the running side has it. */
  configurationId: string | null;
  runs: Side | null;
  offered: Side | null;
}

export interface ComparedScope {
  scope: Omit<ScopeVersion, 'version'>;
  runs: string | null;
  offered: string | null;
}

interface Offered {
  name: string;
  resolution: Resolution;
}

export function compareParts(manifest: Manifest, offered: readonly Offered[]): ComparedPart[] {
  const compared = offered.map(({ name, resolution }): ComparedPart => {
    const runs = manifest.parts.find((part) => part.configurationName === name);
    return {
      name,
      configurationId: resolution.configurationId,
      runs: runs ?? null,
      offered: { version: resolution.configurationVersion, parameters: filesOf(resolution) },
    };
  });
  const gone = manifest.parts.filter((part) => !offered.some(({ name }) => name === part.configurationName));
  return [
    ...compared,
    ...gone.map((part) => ({
      ...{ name: part.configurationName, configurationId: null },
      ...{ runs: part, offered: null },
    })),
  ];
}

function filesOf({ scopes }: Resolution): ScopeVersion[] {
  return scopes.flatMap(({ scopeTypeName, scopeValue, resolvedVersion, isPassthrough }) =>
    resolvedVersion === null || isPassthrough
      ? []
      : [{ scopeTypeName, scopeValue, version: resolvedVersion }],
  );
}

/** The parameter files of both sides, in the order in which what is offered merges them. */
export function compareScopes({ runs, offered }: ComparedPart): ComparedScope[] {
  const before = runs?.parameters ?? [];
  const after = offered?.parameters ?? [];
  const has = (files: readonly ScopeVersion[], scope: Omit<ScopeVersion, 'version'>) =>
    files.find((file) => scopeText(file) === scopeText(scope))?.version ?? null;
  const gone = before.filter((file) => has(after, file) === null);
  return [...after, ...gone].map((scope) => ({
    scope,
    runs: has(before, scope),
    offered: has(after, scope),
  }));
}

/** Whether the two sides of a part are the same, as far as versions tell. */
export function isEqual(part: ComparedPart): boolean {
  return (
    part.runs?.version === part.offered?.version &&
    compareScopes(part).every(({ runs, offered }) => runs === offered)
  );
}
