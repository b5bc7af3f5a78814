/** What the document says of the interface as a whole. */

export const ABOUT = `Hawser is a Git-backed pull configuration server: nodes pull published, tagged configurations over \
mutual TLS, authors make drafts and publish them, administrators script all of it with personal access tokens.

**Conventions.** Paths answer with and without a trailing slash. JSON members are camelCase; what is absent in an \
answer is \`null\`. Answers may have more members in a later release: ignore those that you do not know. Requests with \
members that are not known are refused with 400, except for those of nodes. Ids are lower-case UUIDs, and one in a path that is none \
names nothing: 404. Times are RFC 3339 in UTC with milliseconds. Durations are \`[d.]hh:mm:ss[.fffffff]\`; ISO 8601 \
(\`PT15M\`) is taken too. Spellings of enums are matched without regard to case.

**Lists** are JSON arrays, paged by \`take\` (1 to 1000) and \`skip\`, with \`X-Total-Count\` and \`Link: <...>; rel="next"\`.

**Methods.** HEAD works as GET without a body. OPTIONS answers 204 with \`Allow\`; a method that a path does not have, 405 \
\`method_not_allowed\` with \`Allow\`. An address that nothing has is 404 \`not_found\`.

**Conditional requests.** Every GET of a single thing has an \`ETag\`, and takes \`If-None-Match\` (304). PUT, PATCH and \
DELETE take \`If-Match\` (412).

**Problems** are RFC 9457 \`application/problem+json\` with a stable \`code\`. A request that is no HTTP/1.1 is answered \
before any route is found: 400 \`malformed_request\`, 408 \`request_timeout\`, 431 \`header_too_large\`. Every answer \
carries \`X-Request-Id\`, which the log knows.

**What the contract left open** is decided in the descriptions of the operations here, and with reasons in \
\`docs/decisions/\` of the project.`;

/** Every tag that a route may have, in the order of the reference. */
export const TAGS: Record<string, string> = {
  Authentication: 'Sign in and out, who am I, change of the own password',
  Tokens: 'Personal access tokens of the caller',
  Pull: 'What a node polls and downloads',
  Nodes: 'Registration, status, assignment and parameters of nodes',
  Reports: 'Results that nodes report',
  'Registration keys': 'Secrets with which new nodes come in',
  Configurations: 'Configurations: names, descriptions, flags',
  'Configuration versions': 'Drafts, publishing and files of configurations',
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
  Settings: 'Settings of the server that can be changed while it runs',
  Retention: 'What is deleted when, by hand or on schedule',
  Audit: 'Who changed what',
  Git: "Git's smart HTTP protocol, for stock clients",
  Health: 'For balancers and supervisors; never cached',
  Metrics: 'For Prometheus',
  'Sign-in page': 'Pages for people in a browser',
  Reference: 'This document, and the page that shows it; in development only',
};
