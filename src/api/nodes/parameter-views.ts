/** What explains a node's parameters, as the API shows it. */

import { isPrerelease } from '../../domain/version-order.ts';
import type { Explanation } from '../../resolve/explain.ts';

export function toResolution(explanation: Explanation) {
  const { nodeId, configurationId, configurationVersion, prereleaseChannel, problems, scopes } = explanation;
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
