/**
 * Makes the OpenAPI 3.1 document from the routes. The routes also validate requests, decide access and shape answers,
 * so the document cannot differ from what the server does (docs/decisions/0014).
 */

import type { Route } from '../route.ts';
import { describeAccess, SECURITY_SCHEMES, securityOf } from './access.ts';
import { Components, type JsonSchema } from './components.ts';
import { isPaged, parametersOf, queryOf, requestBodyOf, SHARED_PARAMETERS } from './requests.ts';
import { HEADERS, responsesOf } from './responses.ts';

const ABOUT = `Hawser is a Git-backed pull configuration server: nodes pull published, tagged configurations over \
mutual TLS, authors make drafts and publish them, administrators script all of it with personal access tokens.

**Conventions.** Paths answer with and without a trailing slash. JSON members are camelCase; what is absent in an \
answer is \`null\`. Answers may have more members in a later release: ignore those that you do not know. Requests with \
members that are not known are refused with 400, except for those of nodes. Ids are lower-case UUIDs, and one in a path that is none \
names nothing: 404. In place of a node's id in a path, users may write its fqdn; what is an id counts as one, and \
answers have the id. Times are RFC 3339 in UTC with milliseconds. Durations are \`[d.]hh:mm:ss[.fffffff]\`; ISO 8601 \
(\`PT15M\`) is taken too. Spellings of enums are matched without regard to case.

**Lists** are JSON arrays, paged by \`take\` (1 to 1000) and \`skip\`, with \`X-Total-Count\` and \`Link: <...>; rel="next"\`. \
Some are also sent whole, as \`text/csv\` (RFC 4180): columns named as the members are, null as an empty cell, objects \
and lists as their JSON text, and a \`'\` before what a spreadsheet would take for a formula. \`take\` and \`skip\` are \
not looked at then.

**Methods.** HEAD works as GET without a body. OPTIONS answers 204 with \`Allow\`; a method that a path does not have, 405 \
\`method_not_allowed\` with \`Allow\`. An address that nothing has is 404 \`not_found\`.

**Conditional requests.** Every GET of a single thing or of a page of a list has an \`ETag\`, and takes \`If-None-Match\` (304). PUT, PATCH and \
DELETE take \`If-Match\` (412), and so does the POST that starts a rollout, with the ETag of the version.

**Problems** are RFC 9457 \`application/problem+json\` with a stable \`code\`. A request that is no HTTP/1.1 is answered \
before any route is found: 400 \`malformed_request\` or \`https_required\`, 408 \`request_timeout\`, 431 \
\`header_too_large\`. Every answer carries \`X-Request-Id\`, which the log knows.

**What the contract left open** is decided in the descriptions of the operations here, and with reasons in \
\`docs/decisions/\` of the project.`;

/** The tags that routes may have, in the order in which the reference page shows them. */
const TAGS: Record<string, string> = {
  Authentication: 'Sign in and out, who am I, change of the own password',
  Tokens: 'Personal access tokens of the caller, and the exchange of tokens of others',
  Pull: 'What a node polls and downloads',
  Nodes: 'Registration, status, assignment and parameters of nodes',
  Reports: 'Results that nodes report',
  Proof: 'Who runs exactly which version, and what a checksum stands for',
  Fleet: 'All nodes at a glance, what has happened, and search',
  'Registration keys': 'Secrets with which new nodes come in',
  Configurations: 'Configurations: names, descriptions, flags',
  'Configuration versions': 'Drafts, publishing and files of configurations',
  'Composite settings': 'What protects a composite configuration',
  'Configuration settings': 'What a configuration has in place of the settings of the server',
  'Composite configurations': 'Several configurations delivered as one',
  'Composite versions': 'Versions of composites and what they consist of',
  Parameters: 'Schemas of parameters, and what scopes set',
  'Scope types': 'Kinds of scopes, and their order of precedence',
  'Scope values': 'Values of scope types, with which nodes are tagged',
  Permissions: 'What there is to permit, and grants on configurations, composites and parameters',
  Users: 'Users and service accounts',
  Groups: 'Groups, their members and roles, and mappings from identity providers',
  Roles: 'Roles: named sets of permissions',
  Previews: 'What changes would do, group by group and node by node, without making them',
  'Change sets': 'Many deeds as one proposal, which is seen, approved, applied and taken back as one',
  Settings: 'Settings of the server that can be changed while it runs',
  Retention: 'What is deleted when, by hand or on schedule',
  Audit: 'Who changed what',
  Events: 'The feed of what happens, for other programs',
  Rollouts: 'Versions that reach the nodes ring by ring',
  Webhooks: 'Whom the server calls when something happens',
  Git: "Git's smart HTTP protocol, for stock clients",
  Health: 'For balancers and supervisors; never cached',
  Metrics: 'For Prometheus',
  'Sign-in page': 'Pages for people in a browser',
  'Sign-in by identity providers': 'Pages that lead to the providers of the company and back',
  Downloads: 'The clients of this server, each in one file',
  Console: 'The console, which is a program for browsers over this API',
  Reference: 'This document, and the page that shows it; in development only',
};

/**
 * The document of these routes. It does not depend on their order.
 * @param version the version of Hawser
 * @throws Error when two schemas or two operations have the same id, and for an unknown tag or path parameter
 */
export function openApiDocument(routes: readonly Route[], version: string): JsonSchema {
  const components = new Components();
  const paths: Record<string, JsonSchema> = {};
  const ids = new Set<string>();
  for (const route of [...routes].sort(byPathAndMethod)) {
    check(route, ids);
    const path = route.path.replace('{*', '{');
    paths[path] = { ...paths[path], [route.method.toLowerCase()]: operationOf(route, components) };
  }
  return {
    openapi: '3.1.0',
    info: { title: 'Hawser', version, description: ABOUT, license: { name: 'MIT', identifier: 'MIT' } },
    servers: [{ url: '/', description: 'The server that hands out this document' }],
    tags: Object.entries(TAGS).map(([name, description]) => ({ name, description })),
    paths,
    components: {
      ...components.sorted(),
      headers: HEADERS,
      parameters: SHARED_PARAMETERS,
      securitySchemes: SECURITY_SCHEMES,
    },
  };
}

function byPathAndMethod(a: Route, b: Route): number {
  return `${a.path} ${a.method}` < `${b.path} ${b.method}` ? -1 : 1;
}

function check({ id, tags }: Route, ids: Set<string>): void {
  if (ids.has(id)) throw new Error(`Two routes have the id ${id}`);
  ids.add(id);
  const unknown = tags.find((tag) => !Object.hasOwn(TAGS, tag));
  if (unknown !== undefined) throw new Error(`${id} has the tag ${unknown}, which is not described`);
}

function operationOf(route: Route, components: Components): JsonSchema {
  const query = queryOf(route, components);
  const parameters = parametersOf(route, query);
  return {
    operationId: route.id,
    tags: route.tags,
    summary: route.summary,
    description: [route.description, describeAccess(route.access)].filter(Boolean).join('\n\n'),
    security: securityOf(route),
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(route.body === undefined ? {} : { requestBody: requestBodyOf(route.body, components) }),
    responses: responsesOf(route, components, isPaged(query)),
  };
}
