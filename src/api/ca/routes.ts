/** `/api/v1/ca.pem`: the certificate of the built-in authority, for those who have to trust what it issues. */

import { download } from '../../http/answer.ts';
import { NOT_FOUND } from '../../http/problem-codes.ts';
import { type Route, route } from '../../http/route.ts';
import { notFound } from '../../lib/errors.ts';
import { sha256Hex } from '../../lib/hash.ts';
import type { KeyedCertificate } from '../../security/certificate-authority.ts';

const MEDIA_TYPE = 'application/x-pem-file';
const ATTACHMENT = 'attachment; filename="hawser-ca.pem"';

export interface AuthorityRouteOptions {
  authority: KeyedCertificate;
  issuesCertificates: boolean;
}

export function authorityRoute({ authority, issuesCertificates }: AuthorityRouteOptions): Route {
  return route({
    id: 'getAuthorityCertificate',
    method: 'GET',
    bound: 'shared',
    path: '/api/v1/ca.pem',
    summary: 'Download the certificate of the built-in authority',
    description:
      'Nodes that register with a CSR get certificates from this authority. A server with a node CA of its own issues ' +
      'none, and answers 404.',
    tags: ['Nodes'],
    access: { kind: 'public' },
    answers: {
      200: {
        description: 'The certificate, PEM',
        mediaType: MEDIA_TYPE,
        headers: { 'Content-Disposition': `\`${ATTACHMENT}\`` },
      },
    },
    problems: [NOT_FOUND],
    handle() {
      if (!issuesCertificates) throw notFound('This server issues no certificates');
      const { certificate } = authority;
      const headers = { 'Content-Disposition': ATTACHMENT };
      return download(Buffer.from(certificate), MEDIA_TYPE, sha256Hex(certificate).slice(0, 40), headers);
    },
  });
}
