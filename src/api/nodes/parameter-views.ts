/** What explains a node's parameters, as the API shows it. */

import { printJson } from '../../domain/json-text.ts';
import type { LeafProvenance } from '../../domain/merge.ts';
import type { Mapping, Value } from '../../domain/value.ts';
import { parseVersion } from '../../domain/version-order.ts';
import { printYaml } from '../../domain/yaml-printer.ts';
import { toTimestamp } from '../../lib/clock.ts';
import type { ExplainedScope, Explanation } from '../../resolve/explain.ts';
import { redactAt, redactDocument } from '../../resolve/secrets.ts';

export function toResolution(nodeId: string, explanation: Explanation) {
  const { configurationId, configurationVersion, prereleaseChannel, problems, scopes } = explanation;
  return {
    nodeId,
    configurationId,
    configurationVersion,
    prereleaseChannel,
    problems,
    scopes: scopes.map(({ scopeTypeName, scopeValue, precedence, details, isFallback }) => ({
      scopeTypeName,
      scopeValue,
      precedence,
      resolvedVersion: details?.version ?? null,
      isPrerelease: details !== null && isPrerelease(details.version),
      isPassthrough: details?.isPassthrough ?? false,
      isFallback,
      noPublishedVersion: details === null,
    })),
  };
}

/** As JSON text, in which the values are written exactly; those of secure parameters are not in it. */
export function printProvenance(nodeId: string, explanation: Explanation): string {
  const { configurationId, configurationVersion, prereleaseChannel, problems, merged, secrets } = explanation;
  const leaves = Array.from(explanation.provenance, ([pointer, leaf]): [string, Value] => [
    pointer,
    toLeaf(pointer, leaf, explanation),
  ]);
  return printJson(
    members({
      nodeId,
      configurationId,
      configurationVersion,
      prereleaseChannel,
      problems: problems.map(({ path, message, code }) => members({ path, message, code })),
      mergedParameters: printYaml(redactDocument(merged, secrets)),
      provenance: new Map(leaves),
    }),
  );
}

function toLeaf(pointer: string, leaf: LeafProvenance, { sources, secrets }: Explanation): Mapping {
  const shown = (value: Value) => redactAt(pointer, value, secrets);
  const { details, ...scope } = sourceOf(sources, leaf.source);
  return members({
    ...toScope(scope),
    resolvedVersion: details.version,
    isPrerelease: isPrerelease(details.version),
    commit: details.commit,
    author: details.createdBy,
    committedAt: toTimestamp(details.createdAt),
    value: shown(leaf.value),
    overriddenValues: leaf.overridden.map(({ source, value }) =>
      members({ ...toScope(sourceOf(sources, source)), value: shown(value) }),
    ),
  });
}

function sourceOf(sources: readonly ExplainedScope[], at: number) {
  const source = sources[at];
  if (!source?.details) throw new Error('a leaf comes from no scope');
  return { ...source, details: source.details };
}

function toScope({ scopeTypeName, scopeValue, precedence }: Omit<ExplainedScope, 'details'>) {
  return { scopeTypeName, scopeValue, precedence: BigInt(precedence) };
}

function isPrerelease(version: string): boolean {
  return (parseVersion(version)?.prerelease.length ?? 0) > 0;
}

function members(object: Record<string, Value>): Mapping {
  return new Map(Object.entries(object));
}
