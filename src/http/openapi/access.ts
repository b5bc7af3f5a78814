/** Who may call an operation: the security schemes and requirements, and the same in words. */

import { GRANT_RULES, type GrantKind, type Permission } from '../../domain/permissions.ts';
import { type Access, needsSession, permissionsOf } from '../../security/access.ts';
import type { Route } from '../route.ts';
import { SESSION_COOKIE } from '../session-cookie.ts';

export const SECURITY_SCHEMES = {
  session: {
    type: 'apiKey',
    in: 'cookie',
    name: SESSION_COOKIE,
    description:
      'What POST /api/v1/auth/login sets: 8 hours, renewed by use. Requests with `X-Hawser-Poll: 1` do not renew it: a ' +
      'page sends this when it only looks for changes. Unsafe methods with a session must come from this site ' +
      '(`Sec-Fetch-Site`, else `Origin`), or are answered with 403 `cross_site_request`.',
  },
  token: {
    type: 'http',
    scheme: 'bearer',
    bearerFormat: 'pat_...',
    description:
      'A personal access token. It can do what its owner can do and its scopes name as well: permissions, and ' +
      '`configurations.grants`, `composite-configurations.grants`, `parameters.grants` to use grants of its owner.',
  },
  certificate: {
    type: 'mutualTLS',
    description:
      'The client certificate of a registered node, pinned by its SHA-256 fingerprint. It opens the routes of ' +
      'this one node.',
  },
  gitPassword: {
    type: 'http',
    scheme: 'basic',
    description: 'For git: any user name, and a personal access token as the password.',
  },
  metricsToken: {
    type: 'http',
    scheme: 'bearer',
    description: 'The text of `HAWSER_METRICS_TOKEN`, which opens /metrics and nothing else.',
  },
} as const;

type SchemeName = keyof typeof SECURITY_SCHEMES;

/** Any one of these requirements lets the caller in. Their texts are the permissions that the caller needs. */
export function securityOf({ access, caller }: Route): Partial<Record<SchemeName, string[]>>[] {
  // The empty requirement lets in callers who meet none of the others.
  if (access.kind === 'public') return access.knowsSession ? [{}, { session: [] }] : [];
  if (access.kind === 'metrics') return [{ metricsToken: [] }];
  if (access.kind === 'node:self') return [{ certificate: [] }];
  const permissions = permissionsOf(access);
  const alternatives = permissions.length === 0 ? [[]] : permissions.map((permission) => [permission]);
  if (needsSession(access)) return alternatives.map((needed) => ({ session: needed }));
  const user = alternatives.flatMap((needed) => [{ token: needed }, { session: needed }]);
  if (caller === 'git') return [{ gitPassword: [] }, ...user];
  return access.kind.startsWith('node:self') ? [{ certificate: [] }, ...user] : user;
}

/** Actions of the same permission are named together. */
function describeActions(permissions: Readonly<Record<string, Permission>>): string {
  const needed = [...new Set(Object.values(permissions))].map((permission) => {
    const actions = Object.keys(permissions).filter((action) => permissions[action] === permission);
    return `\`${permission}\` for ${actions.join(', ')}`;
  });
  return `Needs the permission of the action: ${needed.join('; ')}.`;
}

const GRANTED: Record<GrantKind, string> = {
  configuration: 'the configuration',
  composite: 'the composite configuration',
  parameters: "the configuration's parameters",
};

const FALLBACK = '; without a grant on these, the level held on the configuration counts';

const quoted = (name: string) => `\`${name}\``;

/** One or two sentences on access for the description of an operation. */
export function describeAccess(access: Access): string {
  switch (access.kind) {
    case 'public':
      return 'Open to everybody.';
    case 'metrics':
      return 'Needs the token of `HAWSER_METRICS_TOKEN`; without one configured, nothing is here.';
    case 'user':
      return `${access.session ? 'Needs a session; tokens are refused.' : 'Open to any signed-in user.'}${
        access.anyScopes ? ' A token needs no scope for it.' : ''
      }${access.duringPasswordChange ? ' Open also while the password must be changed.' : ''}`;
    case 'permission':
      return (
        `Needs the permission ${permissionsOf(access).map(quoted).join(' or ')}` +
        `${access.session ? ' and a session; tokens are refused' : ''}.`
      );
    case 'action':
      return describeActions(access.permissions);
    case 'grant': {
      const { scope, override } = GRANT_RULES[access.on];
      return (
        `Needs ${access.permission ? `the permission \`${access.permission}\`, and ` : ''}${access.level} on ${GRANTED[access.on]}, by a grant (of a token's scopes: \`${scope}\`) or by ` +
        `\`${override}\`${access.on === 'parameters' ? FALLBACK : ''}. To whom may not read it, it does not exist.`
      );
    }
    case 'node:self':
      return 'For the node itself alone, with its client certificate.';
    case 'node:self-or-permission':
      return `For the node itself, with its client certificate, and for users with \`${access.permission}\`.`;
    case 'node:self-or-reader':
      return (
        'For the node itself, with its client certificate, and for users with `nodes.read` who may read all that it ' +
        'gets: what is assigned to it, of a composite each child as well, and the parameters of each.'
      );
  }
}
