/** What a kept manifest was made of, as rights are asked of it. */

import type { KeptPart } from '../../resolve/remake-manifest.ts';

/** Earlier releases kept the names of scopes alone, which may be those of others by now. */
export function toNamedPart({ configurationName, parameters }: KeptPart) {
  const scopes = parameters.map(({ scopeTypeId, scopeValueId = null }) =>
    scopeTypeId === undefined ? null : { scopeTypeId, scopeValueId },
  );
  return { configurationName, parameters: { scopes } };
}
