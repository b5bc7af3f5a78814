/** `/api/v1/nodes/{nodeId}/rotate-certificate`: a node announces its next certificate in one of three forms. */

import { z } from 'zod';
import { CERTIFICATE_PROBLEMS } from '../../deeds/register-node.ts';
import {
  type Announcement,
  announceCertificate,
  type RotationOptions,
} from '../../deeds/rotate-certificate.ts';
import { json, lastOnConnection } from '../../http/answer.ts';
import type { Route } from '../../http/route.ts';
import { Instant } from '../../http/schemas.ts';
import { unauthenticated } from '../../lib/errors.ts';
import { operation, ResourceRoutes } from '../shared/routes.ts';

/** A SHA-1 or SHA-256 in any case, with or without colons; it is normalised to upper-case digits. */
const Thumbprint = z
  .string()
  .regex(
    /^(?:[\da-fA-F]{40}|[\da-fA-F]{64}|(?:[\da-fA-F]{2}:){19}[\da-fA-F]{2}|(?:[\da-fA-F]{2}:){31}[\da-fA-F]{2})$/,
    'Not a SHA-1 or SHA-256 in hex',
  )
  .transform((text) => text.replaceAll(':', '').toUpperCase());

/** Unknown members are ignored, since agents of other releases send them. */
const Rotation = z
  .object({
    certificateThumbprint: Thumbprint.nullish(),
    certificateSubject: z.string().max(1_024).nullish(),
    certificateNotAfter: Instant.nullish(),
    certificate: z
      .string()
      .max(65_536)
      .nullish()
      .meta({ description: 'PEM, its issuers behind it if need be' }),
    csr: z
      .string()
      .max(32_768)
      .nullish()
      .meta({ description: 'PKCS#10 in PEM; the built-in authority issues the certificate' }),
  })
  .transform((body, context): Announcement => {
    const [thumbprint, subject, notAfter] = [
      body.certificateThumbprint,
      body.certificateSubject,
      body.certificateNotAfter,
    ];
    const { certificate, csr } = body;
    const forms = [thumbprint ?? subject ?? notAfter, certificate, csr].filter(isGiven);
    if (forms.length !== 1) context.addIssue({ code: 'custom', message: FORMS });
    else if (isGiven(csr)) return { form: 'csr', csr };
    else if (isGiven(certificate)) return { form: 'certificate', certificate };
    else if (isGiven(thumbprint) && isGiven(subject) && isGiven(notAfter))
      return { form: 'thumbprint', thumbprint, subject, notAfter };
    else context.addIssue({ code: 'custom', path: [missingOf(body)], message: FORMS });
    return z.NEVER;
  })
  .meta({
    id: 'CertificateAnnouncement',
    examples: [
      {
        certificateThumbprint: '3F786850E387550FDAB836ED7E6DC881DE23001B',
        certificateSubject: 'CN=web-01.example.com',
        certificateNotAfter: '2027-11-20T09:08:00Z',
      },
    ],
  });

const Announced = z
  .object({
    message: z.string(),
    certificate: z.string().optional().meta({ description: 'PEM, issued for the csr' }),
  })
  .meta({
    id: 'AnnouncedCertificate',
    examples: [{ message: 'The certificate becomes the current one with the first call that uses it' }],
  });

const FORMS =
  'Exactly one of: certificateThumbprint, certificateSubject and certificateNotAfter together; certificate; csr';
const DESCRIPTION = ['certificateThumbprint', 'certificateSubject', 'certificateNotAfter'] as const;

function isGiven<T>(value: T | null | undefined): value is T {
  return value !== null && value !== undefined;
}

/** The first member that is missing in the description of a certificate. */
function missingOf(body: { [name in (typeof DESCRIPTION)[number]]?: unknown }): string {
  return DESCRIPTION.find((name) => !isGiven(body[name])) ?? '';
}

const PENDING = 'The certificate becomes the current one with the first call that uses it';
const CURRENT = 'This is the current certificate of the node already';

export function rotationRoute(options: RotationOptions): Route {
  const own = new ResourceRoutes(options.database, { tags: ['Nodes'], access: { kind: 'node:self' } });
  return own.own('POST', '/api/v1/nodes/{nodeId}/rotate-certificate', {
    ...operation('rotateNodeCertificate', 'Announce the certificate that the node will come with next'),
    description:
      'Exactly one of three forms: what the certificate is like, the certificate, or a csr. The current certificate ' +
      'works until the first call with the new one, which ends it. Only a call with this nodeId in its path counts. A ' +
      'new one counts until it has expired, another is announced, or another node has shown it: several may announce ' +
      'the same. To announce the current certificate takes an announcement back. The answer ends the connection, ' +
      'whose certificate is that of its handshake, and so do all answers to the old certificate from then on.',
    body: { kind: 'json', schema: Rotation },
    answers: {
      200: {
        description: 'The certificate is pending; for a CSR it is in the answer',
        schema: Announced,
        headers: { Connection: '`close`' },
      },
    },
    problems: CERTIFICATE_PROBLEMS,
    async handle({ node: { nodeId }, body, facts }) {
      const { certificate: presented, actor } = facts;
      if (presented === null) throw unauthenticated('Connect with the client certificate of the node');
      const { isPending, certificate } = await announceCertificate(options, {
        ...{ nodeId, presented, announcement: body, actor },
        wouldChain: (chain) => facts.wouldChain(chain),
      });
      return lastOnConnection(json({ message: isPending ? PENDING : CURRENT, certificate }));
    },
  });
}
