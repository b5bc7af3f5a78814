/** Rotates node certificates as agents do. */

import { X509Certificate } from 'node:crypto';
import { saveSettings } from '../../src/deeds/change-settings.ts';
import { HOUR } from '../../src/lib/clock.ts';
import { systemActor } from '../../src/security/audit.ts';
import type { Reply } from './client.ts';
import { type ClientCertificate, makeClientCertificate } from './client-certificates.ts';
import { withDatabase } from './database.ts';
import type { Hawser, NodeUnderTest } from './hawser.ts';

export interface Announcement {
  certificateThumbprint: string;
  certificateSubject: string;
  certificateNotAfter: string;
}

/** The announcement as the OpenDSC agent writes it: SHA-1 in upper case, and notAfter in its local time. */
export function announce({ cert }: { cert: string }): Announcement {
  const certificate = new X509Certificate(cert);
  const local = new Date(Date.parse(certificate.validTo) + HOUR).toISOString();
  return {
    certificateThumbprint: certificate.fingerprint.replaceAll(':', ''),
    certificateSubject: certificate.subject.split('\n').reverse().join(', '),
    certificateNotAfter: local.replace('.000Z', '+01:00'),
  };
}

export function rotate(node: NodeUnderTest, body: unknown): Promise<Reply> {
  return node.client.post(`/api/v1/nodes/${node.nodeId}/rotate-certificate`, body);
}

/** The same node with another certificate, over connections of its own. */
export function withCertificate(
  hawser: Hawser,
  node: NodeUnderTest,
  identity: ClientCertificate,
): NodeUnderTest {
  return { ...node, identity, client: hawser.client(identity) };
}

/** The same node with a new certificate, which the server does not know. */
export async function withNewCertificate(
  hawser: Hawser,
  node: NodeUnderTest,
  more: { notBefore?: number; notAfter?: number; rsa?: boolean } = {},
): Promise<NodeUnderTest> {
  return withCertificate(hawser, node, await makeClientCertificate({ commonName: node.fqdn, ...more }));
}

/** Sets an interval after which every certificate is due at once. It is shorter than the API takes. */
export function rotateAlways(hawser: Hawser): Promise<void> {
  const settings = { certificateRotationInterval: '00:00:00.0010000' };
  return withDatabase(hawser, ({ write }) =>
    saveSettings(write, systemActor(hawser.clock.now()), 'server', settings, {}),
  );
}

/** The status of a call that the node may make with its certificate. */
export async function call(node: NodeUnderTest): Promise<number> {
  return (await node.client.get(`/api/v1/nodes/${node.nodeId}/lcm-config`)).status;
}
