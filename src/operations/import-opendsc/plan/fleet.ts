/** Nodes, their tags and assignments, and grants. */

import { NewAssignment } from '../../../api/shared/assignment-schemas.ts';
import { LCM_STATUSES, NODE_STATUSES } from '../../../db/node-tables.ts';
import { faultOfName } from '../../../deeds/register-node.ts';
import { formatDuration } from '../../../domain/duration.ts';
import { normalizeHostName } from '../../../domain/names.ts';
import { GRANT_LEVELS, type GrantKind } from '../../../domain/permissions.ts';
import type { VersionConstraint } from '../../../domain/version-choice.ts';
import type { AwaitedCertificate } from '../../../security/awaiting-certificates.ts';
import type { Deed } from '../deeds.ts';
import type { HereNode } from '../here.ts';
import type { Kind } from '../kinds.ts';
import type { SourceAssignment, SourceGrant, SourceNode } from '../source/site.ts';
import { compositeKey } from './composites.ts';
import { Clash, here, LeftOut, made, type Plan, requireSame } from './plan.ts';

export function planNodes(plan: Plan): void {
  const idsHere = new Map([...plan.input.here.nodes].map(([id, { fqdn }]) => [fqdn, id]));
  for (const fqdn of idsHere.keys()) plan.nodeNames.add(fqdn);
  plan.judge('nodes', plan.input.site.nodes, {
    id: ({ id }) => id,
    name: ({ fqdn }) => fqdn,
    judge: (node) => judgeNode(plan, node, idsHere),
  });
}

const SHA1 = /^[0-9A-Fa-f]{40}$/;

function judgeNode(plan: Plan, node: SourceNode, idsHere: ReadonlyMap<string, string>) {
  const { here: own, now, skip } = plan.input;
  const { id } = node;
  const fqdn = normalizeHostName(node.fqdn);
  if (fqdn === null) throw new LeftOut(faultOfName(node.fqdn));
  plan.once('nodes', fqdn);
  const desired = {
    configurationMode: node.desiredConfigurationMode,
    configurationModeInterval: durationText(node.desiredConfigurationModeInterval),
    reportCompliance: flagOf(node.desiredReportCompliance),
  };
  const row = own.nodes.get(id);
  if (row !== undefined) {
    requireSame(row, { fqdn, desired });
    return here({ id, name: fqdn }, replacedCertificate(plan, node, row));
  }
  const other = idsHere.get(fqdn);
  if (other) throw new Clash(`It is registered here with the id ${other}`);
  const certificate = certificateOf(node);
  if (certificate === null) throw new LeftOut('What is known of its certificate is no SHA-1 with an end');
  requireFree(plan, certificate);
  if (!skip.has('nodes')) plan.nodeNames.add(fqdn);
  const interval = node.configurationModeInterval;
  const settings = {
    ...{ status: knownOr(NODE_STATUSES, node.status), lcm_status: knownOr(LCM_STATUSES, node.lcmStatus) },
    ...{ configuration_source: node.configurationSource, configuration_mode: node.configurationMode },
    ...{ configuration_mode_interval: durationText(interval), configuration_mode_interval_ms: interval },
    report_compliance: flagOf(node.reportCompliance),
    desired_configuration_mode: desired.configurationMode,
    desired_configuration_mode_interval: desired.configurationModeInterval,
    desired_report_compliance: desired.reportCompliance,
  };
  const at = { createdAt: node.createdAt ?? now, lastCheckIn: node.lastCheckIn };
  return made({ do: 'insertNode', id, fqdn, settings, certificate, ...at }, { id, name: fqdn });
}

/** Null where too little is known of it to recognise it. */
function certificateOf(node: SourceNode): AwaitedCertificate | null {
  const { certificateThumbprint, certificateSubject: subject, certificateNotAfter: notAfter } = node;
  if (!SHA1.test(certificateThumbprint) || notAfter === null) return null;
  return { sha1Thumbprint: certificateThumbprint.toUpperCase(), subject, notAfter };
}

/** @throws LeftOut, Clash where another node has the certificate */
function requireFree(plan: Plan, { sha1Thumbprint }: AwaitedCertificate): void {
  plan.once('nodes', sha1Thumbprint);
  if (plan.input.here.certificates.has(sha1Thumbprint))
    throw new Clash('Its certificate is that of another node here');
}

/** A node that still calls the other server may have replaced its certificate there since the last import. */
function replacedCertificate(plan: Plan, node: SourceNode, { fqdn, awaited }: HereNode): Deed[] {
  const certificate = certificateOf(node);
  if (awaited === null || certificate === null || certificate.sha1Thumbprint === awaited.sha1Thumbprint)
    return [];
  requireFree(plan, certificate);
  return [{ do: 'awaitAnother', nodeId: node.id, fqdn, certificate }];
}

const durationText = (milliseconds: number | null) =>
  milliseconds === null ? null : formatDuration(milliseconds);
const flagOf = (value: boolean | null) => (value === null ? null : Number(value));

/** A state that this server does not know tells nobody anything. */
function knownOr<T extends string>(known: readonly T[], value: string): T | 'Unknown' {
  return known.find((each) => each === value) ?? 'Unknown';
}

export function planTags(plan: Plan): void {
  const { site, here: own } = plan.input;
  const nodes = new Map(site.nodes.map(({ id, fqdn }) => [id, fqdn]));
  const values = new Map(site.scopeValues.map((value) => [value.id, value]));
  const types = new Map(site.scopeTypes.map(({ id, name }) => [id, name]));
  plan.judge('tags', site.nodeTags, {
    name({ nodeId, scopeValueId }) {
      const value = values.get(scopeValueId);
      return `${nodes.get(nodeId) ?? nodeId} ${types.get(value?.scopeTypeId ?? '') ?? '?'}/${value?.value ?? '?'}`;
    },
    judge({ nodeId: node, scopeValueId: value }) {
      const { id: nodeId } = plan.require('nodes', node);
      const { id: scopeValueId } = plan.require('scope values', value);
      const { id: scopeTypeId } = plan.require('scope types', values.get(value)?.scopeTypeId ?? '');
      plan.once('tags', `${nodeId} ${scopeTypeId}`);
      const tagged = own.tags.get(`${nodeId} ${scopeTypeId}`);
      if (tagged === scopeValueId) return here();
      if (tagged !== undefined) throw new Clash('The node has another value of this scope type here');
      return made({ do: 'tagNode', nodeId, scopeValueId });
    },
  });
}

export function planAssignments(plan: Plan): void {
  const { site } = plan.input;
  const nodes = new Map(site.nodes.map(({ id, fqdn }) => [id, fqdn]));
  // OpenDSC keeps the row of a node from which its configuration was taken.
  const assigned = site.assignments.filter(
    ({ configurationId, compositeConfigurationId }) => (configurationId ?? compositeConfigurationId) !== null,
  );
  plan.judge('assignments', assigned, {
    name: ({ nodeId }) => nodes.get(nodeId) ?? nodeId,
    judge: (assignment) => judgeAssignment(plan, assignment),
  });
}

function judgeAssignment(plan: Plan, source: SourceAssignment) {
  const { id: nodeId } = plan.require('nodes', source.nodeId);
  const isComposite = source.compositeConfigurationId !== null;
  const targetId = source.compositeConfigurationId ?? source.configurationId ?? '';
  const target = plan.require(isComposite ? 'composites' : 'configurations', targetId);
  const { majorVersion = null, prereleaseChannel = null } = NewAssignment.parse({
    ...{ configurationName: target.name, isComposite },
    ...{ majorVersion: source.majorVersion, prereleaseChannel: source.prereleaseChannel },
  });
  const assignment = {
    ...{ configurationId: isComposite ? null : target.id, compositeId: isComposite ? target.id : null },
    ...{ majorVersion, prereleaseChannel, version: null },
  };
  const own = plan.input.here.assignments.get(nodeId);
  if (own !== undefined) {
    requireSame(own, assignment);
    return here();
  }
  if (!isEligible(plan, target.name, isComposite, { majorVersion, prereleaseChannel }))
    throw new LeftOut(whyNothingFits(plan, target.name, isComposite));
  const owner = { kind: isComposite ? 'composites' : 'configurations', resource: target } as const;
  return made({ do: 'assign', nodeId, owner, assignment, isReadable: true });
}

/** Names the composite, and which versions of it were left out: what is missing may be there in the source. */
function whyNothingFits(plan: Plan, name: string, isComposite: boolean): string {
  if (!isComposite) return 'No published version of the configuration fits this assignment';
  const left = plan.refusedOf('composite versions').filter((version) => version.startsWith(`${name} `));
  const fate = left.length === 0 ? '' : `; left out: ${left.join(', ')}`;
  return `No published version of the composite ${name} fits this assignment${fate}`;
}

/** Whether the node will get something, by the versions that will be here. */
function isEligible(plan: Plan, name: string, isComposite: boolean, constraint: VersionConstraint): boolean {
  if (!isComposite) return plan.versionsOf(name).choose(constraint) !== null;
  const version = plan.versionsOf(compositeKey(name)).choose(constraint);
  const document = version && plan.documents.get(`${name} ${version.version}`);
  if (!document) return false;
  const { prereleaseChannel } = constraint;
  return document.children.every(({ configuration, version: pinned, majorVersion }) => {
    const known = plan.versionsOf(configuration);
    return pinned === null
      ? known.choose({ majorVersion, prereleaseChannel }) !== null
      : known.get(pinned)?.status === 'Published';
  });
}

/** The grants, with the kinds of what they are on. */
export function planGrants(plan: Plan): void {
  const { site } = plan.input;
  const owners = new Map(site.parameterSchemas.map(({ id, configurationId }) => [id, configurationId]));
  const ofParameters = site.parameterGrants.map((grant) => ({
    ...grant,
    resourceId: owners.get(grant.resourceId) ?? '',
  }));
  const grants = [
    ...site.configurationGrants.map(
      (grant) => ({ on: 'configuration', of: 'configurations', grant }) as const,
    ),
    ...site.compositeGrants.map((grant) => ({ on: 'composite', of: 'composites', grant }) as const),
    ...ofParameters.map((grant) => ({ on: 'parameters', of: 'configurations', grant }) as const),
  ];
  const names = new Map<string, string>();
  for (const { id, username } of site.users) names.set(id, username);
  for (const { id, name } of [...site.groups, ...site.configurations, ...site.composites])
    names.set(id, name);
  // Parameters may have several grants there, one for each row of their schemas, and the highest counts.
  grants.sort((a, b) => levelOf(b.grant) - levelOf(a.grant));
  const judged = new Set<string>();
  plan.judge('grants', grants, {
    name({ on, grant: { resourceId, principalId, permissionLevel } }) {
      const resource = names.get(resourceId) ?? resourceId;
      return `${names.get(principalId) ?? principalId} ${permissionLevel} on ${on} ${resource}`;
    },
    judge: ({ on, of, grant }) => judgeGrant(plan, { on, of, grant, judged }),
  });
}

const levelOf = ({ permissionLevel }: SourceGrant) => GRANT_LEVELS.indexOf(permissionLevel);

interface JudgedGrant {
  on: GrantKind;
  of: Kind & ('configurations' | 'composites');
  grant: SourceGrant;
  judged: Set<string>;
}

function judgeGrant(plan: Plan, { on, of, grant, judged }: JudgedGrant) {
  const { resourceId, principalType, principalId: principal, permissionLevel: level } = grant;
  const resource = plan.require(of, resourceId);
  const { id: principalId } = plan.require(principalType === 'User' ? 'users' : 'groups', principal);
  const key = [on, resource.id, principalType, principalId].join(' ');
  if (judged.has(key)) return here();
  judged.add(key);
  const own = plan.input.here.grants.get(key);
  if (own === level) return here();
  if (own !== undefined) throw new Clash(`The level is ${own} here`);
  return made({ do: 'grantLevel', on, resource, principalType, principalId, level });
}
