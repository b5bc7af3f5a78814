/**
 * The catalogue of problem codes: every `code` that an answer can carry, its status, what it means and what to do.
 * The OpenAPI document is made from it; docs/troubleshooting.md says more on each. A test compares both with the source.
 */

export interface ProblemCode {
  /** Mostly one status. There are two where a rule concerns the input in one place and the server's state in another. */
  status: readonly number[];
  meaning: string;
}

/** How a route names a code: alone where it has one status, else with the status that the route answers. */
export type ProblemName = string | readonly [status: number, code: string];

/** Any route may answer these, and some come before a route is found. */
const OF_REQUESTS = {
  ...at(400, {
    malformed_request: 'The request is not valid HTTP/1.1, or has no Host header.',
    https_required:
      'The request came without TLS to a port that speaks HTTPS. Write https:// in place of http://.',
    malformed_body:
      'The body ended too early, came in thousands of chunks of a byte or two, or is no valid gzip, no form in UTF-8, or ' +
      'no request that Git understands.',
    invalid_path: 'A file path is not safe on every system; the detail shows the path and names the fault.',
    invalid_name: 'The name cannot be that of a repository.',
    client_gone: 'The client went away before the answer; it stands in the log only.',
  }),
  ...at([400, 409], {
    validation_failed:
      'The input breaks rules; `errors` names each member by JSON Pointer, or the whole by an empty one. With 409 ' +
      'it is what is stored already that breaks the rules of the schema, and cannot be published like this.',
  }),
  ...at(401, {
    unauthenticated:
      'There is no credential, or it is unknown, expired, revoked, or of a user who is not active. ' +
      'Sign in anew, or send a valid token or client certificate.',
    certificate_revoked: 'The revocation list of the authority names the certificate of the node.',
    certificate_untrusted: 'The certificate of the node does not satisfy the authorities of the server.',
    crl_expired: 'The revocation list of the authority of the certificate of the node is out of date.',
  }),
  ...at(403, {
    forbidden: 'The credential is good but may not do this: the permission, grant or token scope is missing.',
    cross_site_request:
      'A session was used, or a form sent, from a page of another site. Scripts send a token in place of a session.',
    password_change_required:
      'The user must change the password before anything else: POST /api/v1/auth/change-password.',
    session_required: 'A personal access token may not do this: sign in with user name and password.',
  }),
  ...at([404, 409], {
    not_found:
      'There is no such thing, or the caller may not know of it. With 409 a change of a preview names it; `errors` ' +
      'says which change.',
  }),
  ...at(405, {
    method_not_allowed: 'The path exists, the method on it does not; `Allow` lists those that do.',
  }),
  ...at(406, { not_acceptable: 'The Accept header rules out the only media type that there is.' }),
  ...at(408, {
    too_slow: 'Less than 1 KiB of the request came per second, over 30 seconds. Send it again, faster.',
    body_timeout: 'The body came too slowly: a MiB, or all of it, within 30 seconds, then 1 KiB a second.',
    request_timeout: 'The request did not arrive completely in time.',
    upload_too_slow: 'Less than 1 KiB of the upload came per second, over 30 seconds. Send it again, faster.',
  }),
  ...at(410, {
    events_gone:
      'The feed has no event of this id, or none any more: it keeps 30 days. Read it without `after`.',
    audit_gone:
      'The audit trail has no entry of this id, or none any more. Read it from its oldest entry, with `after=0`.',
  }),
  ...at(412, { precondition_failed: 'The resource has changed since its ETag was read. Read it again.' }),
  ...at(413, {
    payload_too_large: 'The body, a file or the unpacked archive is larger than allowed.',
    too_many_files: 'A version holds at most 20,000 files and 20,000 folders, whatever the settings allow.',
  }),
  ...at(415, {
    unsupported_media_type: 'The Content-Type or Content-Encoding is none that the route takes.',
  }),
  ...at(429, { rate_limited: 'Too many in too short a time. Come again after `Retry-After` seconds.' }),
  ...at(431, { header_too_large: 'The request line and headers together exceed 16 KiB.' }),
};

const OF_THE_SERVER = {
  ...at(500, {
    internal_error: 'Something went wrong on the server; the log has the cause under the request id.',
    repository_io: 'The disk refused to read or write a repository; the log has the cause.',
    repository_missing: 'A repository that there should be is not on the disk. Restore it from a backup.',
    repository_damaged: 'An object of a repository is missing or broken. Restore it from a backup.',
    lock_returned: 'A defect of the server: a repository was used after its lock was given back.',
  }),
  ...at(501, {
    git_not_available: 'The server has no git to serve clones and blame with; all else works without it.',
  }),
  ...at(503, {
    unavailable:
      'The disk or the database cannot be used at the moment, or too many bodies are being sent at once. Try again ' +
      'after `Retry-After` seconds.',
    overloaded:
      'More calls of nodes, or more checks of passwords, at a time than the server takes, or too many calls of this ' +
      'node, or more than two bundles or archives on their way to one caller. Try again after `Retry-After` seconds.',
    repository_locked: 'Another program, such as git, holds the repository. Try again.',
    shutting_down: 'The server is shutting down. Try again when it is back.',
    git_timeout: 'Git took too long to answer, or the client to read, or git finds more than is passed on.',
  }),
  ...at(507, { insufficient_storage: 'The disk is full. Nothing of the request was written.' }),
};

const OF_IDENTITY = {
  ...at(400, { current_password_incorrect: 'The current password is not right.' }),
  ...at(401, {
    invalid_credentials:
      'User name or password is wrong, or the account is locked, not active, or without a password: ' +
      'one answer for all of these.',
  }),
  ...at(403, {
    beyond_own_permissions:
      'Nobody hands out permissions or grants that they do not hold themselves; the detail names the first of them.',
  }),
  ...at(409, {
    last_administrator: 'Nobody who is active and has a password here would be Administrator any more.',
    too_many_webhooks: 'There are 50 webhooks already. One may get several types of events.',
    mapping_exists: 'This group of this provider is mapped already.',
    not_a_service_account:
      'Tokens are made, exchanged and revoked here for service accounts alone; people make their own.',
    name_taken: 'Another one has this name; letters that differ in case only are the same.',
    service_account: 'A service account has no password.',
    system_role: 'A built-in role cannot be changed or deleted.',
  }),
};

const OF_SIGN_IN = {
  ...at(400, {
    oidc_flow_invalid:
      'The sign-in at the identity provider was not finished, is too old, was begun in another browser, or does not hold. ' +
      'Begin it again; the log has the reason.',
    invalid_grant:
      'The token of a job cannot be exchanged: one answer for every reason. The log has the reason.',
  }),
  ...at(403, {
    oidc_not_allowed:
      'The identity provider is sure who this is, but this person may not sign in here; the detail says why.',
    groups_overage:
      'The person is in more groups than the provider puts into a token, or than 1,000. Let it send fewer.',
  }),
  ...at(409, {
    account_name_taken:
      'An account of this name is there already. Sign in to it with its password, and link the identity.',
    identity_taken: 'This identity belongs to another account.',
  }),
  ...at(503, {
    oidc_unavailable:
      'The identity provider cannot be reached or does not answer as it should. Signing in with a password works.',
  }),
};

const OF_NODES = {
  ...at(400, {
    certificate_expired: 'The client certificate, or the one announced, has expired already.',
    certificate_not_yet_valid:
      'The client certificate, or the one announced, is valid only from a later time on: a clock is wrong by more than ' +
      '5 minutes. The detail names both times.',
    client_certificate_required: 'The connection has no client certificate, and the body no csr.',
    configuration_id_required: 'The node has a composite: `configurationId` must say which child is meant.',
  }),
  ...at(403, {
    certificate_not_trusted:
      'The certificate does not chain to the node CA of the server, is revoked, or is not one for clients.',
    registration_key_rejected:
      'The registration key is unknown, expired, revoked or used up: one answer for all four, the reason ' +
      'in the log and the audit trail.',
  }),
  ...at(404, { no_configuration_assigned: 'The node has no configuration yet.' }),
  ...at([404, 409], {
    no_eligible_version:
      'No published version fits the major version and the prerelease channel of the assignment.',
  }),
  ...at(409, {
    certificate_in_use: 'Another node holds this certificate.',
    certificates_too_old:
      'So long a rotation interval would lock out nodes whose certificates are old; `nodes` says how many. Take a ' +
      'shorter one, or send that number as `acceptNodes`.',
    count_changed: 'Another number of nodes is meant than was expected. Nothing was done.',
    node_exists:
      'The name is registered with another certificate, and the key does not allow to register it again.',
    no_join_line:
      'No line joins a machine to this server as it is set up; the detail says why, and what to set.',
    scope_type_already_tagged: 'The node has a value of this scope type already.',
  }),
};

const OF_VERSIONS = {
  ...at(423, {
    frozen:
      'A freeze lasts: what nodes get may not be changed before `until`. `reason` says why, `frozenBy` who set it.',
  }),
  ...at(400, {
    nested_composite: 'A composite cannot be a child of a composite.',
    publish_separately: 'What is uploaded is a draft. Publish it by the route that the detail names.',
  }),
  ...at(409, {
    already_published: 'The version is published already.',
    binary_file: 'The file is binary: a NUL is among its first 8,000 bytes. It has no lines.',
    child_exists: 'The configuration is a child of this version already.',
    entry_point_missing:
      'The file is the entry point, without which there is no version. Replace the draft instead.',
    draft_changed: 'Another program changed the draft meanwhile. Read it and try again.',
    in_use: 'Something still uses it; the detail says what. Take it from there first.',
    narrow_preview:
      'The preview kept no details of this group, or of this file. Ask for one of the same changes with `nodeIds`.',
    no_children: 'A composite version without children cannot be published.',
    not_published: 'The version is a draft, which nobody is offered. Delete it instead.',
    override_not_allowed: 'The settings of the server do not allow configurations to have their own.',
    published_version: 'A published version never changes and is not deleted by hand. Make a new one.',
    reserved_path: 'The path is needed for what the server makes: `parameters.yaml`, or the entry point.',
    unpublished_child: 'A child has no published version, or is pinned to one that is not published.',
    version_exists: 'The version exists already; build metadata makes no difference.',
    versions_changed: 'Another program changed a version while it was to be deleted or withdrawn. Try again.',
  }),
};

const OF_SECRETS = {
  ...at(403, {
    secrets_in_bundle:
      'The bundle of the node holds secrets, which users get with the permission secrets.reveal alone. The checksum and ' +
      'the files of parameters can be read.',
  }),
  ...at(409, {
    secret_in_clear:
      'A draft has secrets in the clear, because a schema that was published later calls them so, or because it was made ' +
      'before secrets were encrypted; `paths` has their places. Save it again, which encrypts them.',
  }),
  ...at([400, 409], {
    secret_unreadable:
      'An encrypted text was changed, or was encrypted for another place than the one where it stands; `path` has the place.',
  }),
  ...at(503, {
    secret_key_missing:
      'A key of secrets is missing in the key file of this server or of another one; `keyId` names it. What needs it waits.',
    upgrade_incomplete:
      'A server of an earlier release is there that knows neither secrets nor restricted values, so none is stored or marked. ' +
      'Bring all servers to this release.',
  }),
};

const OF_ROLLOUTS = at(409, {
  no_rings: 'The setting `rolloutScopeType` names no scope type, so there are no rings to roll out to.',
  not_possible:
    'The state of the rollout, of the version, of the change set or of the files does not allow it; the detail says why.',
  rollout_halted: 'The rollout of this version has ended. Roll out a higher version.',
  rollout_running:
    'A version rolls out, and this one would go past its rings. Publish it into a rollout, or end that one first.',
  approval_pending:
    'A step of the rollout asks for an approval that nobody has given. Somebody who did not publish the version must approve it.',
  same_person:
    'Whoever published a version cannot approve its rollout, and whoever wrote a change set or a draft in it cannot approve that. ' +
    'Somebody else must.',
  state_changed: 'The rollout is in another state by now. Read it and decide again.',
});

const OF_SIGNATURES = at(409, {
  signature_required:
    'Versions of the configuration must be signed by somebody who is named in its settings, and no signed tag is kept beside the draft.',
  signature_invalid:
    'The signature of the tag does not count; the code in `errors`, at the path `/signature`, says why.',
});

const OF_CHANGE_SETS = at(409, {
  change_set_required:
    'What this changes is protected, so it is done by a change set: POST /api/v1/change-sets with the deed that the detail names. ' +
    'A weaker protection is set by the deed SetProtection alone.',
  approvals_missing:
    'Not enough people have approved the change set; `protection` of it says how many are missing, and for what.',
  effect_changed:
    'The change set would not change as many nodes as you expect, because the fleet has moved since; preview it again.',
  nothing_to_revert:
    'What the change set changed was changed again since, or is as it was before; there is nothing to take back.',
  draft_exists:
    'There is a draft of this version that somebody else has made or changed. Name that draft, or choose another version.',
});

const OF_PARAMETERS = {
  ...at([404, 409], {
    schema_unknown:
      'Which parameters the version has is unknown, because its entry point, or the schema uploaded for it, cannot be ' +
      'read. Look at the findings of the version, and correct the document.',
  }),
  ...at(400, {
    incomplete_order:
      'All values of the scope type must be there, each once. Read the list again, and put it in order.',
    reserved_name: 'The name is reserved for what the server keeps in Git.',
    too_complex:
      'The document has more than 20,000 leaves, more than 2 MiB of paths to them, or more words than are read. ' +
      'Leave out what need not be a parameter, or shorten the names. In the report of a push: its folders have more than ' +
      '200,000 entries, or looking at it takes more than 20 s. Push fewer commits at once.',
    unknown_node: 'No node is registered under this name.',
    unknown_scope_value: 'The scope type is Restricted and has no such value.',
  }),
  ...at(409, {
    incompatible_parameters:
      'The parameters break with those of an earlier version of the same major; `compatibilityReport` says how. ' +
      'Raise the major version.',
    document_unreadable:
      'dsc cannot read the document that is to be published; `errors` has each finding with file, line and column. ' +
      'Correct it, or set `documentChecks` of the configuration to Warn.',
    parameter_merge_failed:
      "The node's parameter files make more leaves or paths together than one may have, or more than can be told. " +
      'Publish smaller files.',
    not_a_system_scope_type: 'Only system scope types can be switched on and off.',
    schema_changed: 'Another program changed the schema meanwhile. Try again.',
    scope_type_disabled: 'The scope type is switched off: it takes no new files and no publishing.',
    system_scope_type: 'A system scope type cannot be changed or deleted and takes no values of its own.',
  }),
};

const OF_GIT = {
  ...at(400, { unknown_service: 'There is no such Git service.' }),
  ...at(403, {
    partial_read:
      'The repository has files of scopes that the caller may not read: read the others by the API.',
    push_not_supported: 'Repositories can be cloned, not pushed to: changes come in by the API.',
    smart_protocol_only: 'Only the smart HTTP protocol is spoken, as stock git does by itself.',
  }),
};

export const PROBLEM_CODES: Readonly<Record<string, ProblemCode>> = {
  ...OF_REQUESTS,
  ...OF_THE_SERVER,
  ...OF_IDENTITY,
  ...OF_SIGN_IN,
  ...OF_NODES,
  ...OF_VERSIONS,
  ...OF_ROLLOUTS,
  ...OF_SIGNATURES,
  ...OF_CHANGE_SETS,
  ...OF_PARAMETERS,
  ...OF_SECRETS,
  ...OF_GIT,
};

/** What a route answers for what is not there. */
export const NOT_FOUND = [404, 'not_found'] as const;

/** Every route that reads repositories can answer these. */
export const READING_REPOSITORIES = [
  'repository_damaged',
  'repository_io',
  'repository_missing',
  'shutting_down',
] as const;

/** Every route that writes to repositories can answer these. */
export const WRITING_REPOSITORIES = [...READING_REPOSITORIES, 'repository_locked'] as const;

/** The code and status that a route means. @throws Error when the catalogue has no such code or not that status */
export function problemNamed(name: ProblemName): { status: number; code: string } {
  const code = typeof name === 'string' ? name : name[1];
  const known = PROBLEM_CODES[code]?.status ?? [];
  const status = typeof name === 'string' ? known[0] : name[0];
  const isClear = typeof name === 'string' ? known.length === 1 : known.includes(name[0]);
  if (status === undefined || !isClear) throw new Error(`${String(name)} is no problem of the catalogue`);
  return { status, code };
}

function at(status: number | readonly number[], meanings: Record<string, string>) {
  const statuses = typeof status === 'number' ? [status] : status;
  return Object.fromEntries(
    Object.entries(meanings).map(([code, meaning]): [string, ProblemCode] => [
      code,
      { status: statuses, meaning },
    ]),
  );
}
