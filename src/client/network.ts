/** Where a server is, and why it could not be reached, in plain words. */

/** An IPv6 address has brackets in a URL, but must not have them where one connects. */
export function hostOf(url: URL): string {
  return url.hostname.replace(/^\[|\]$/g, '');
}

export function portOf(url: URL): number {
  return url.port === '' ? 443 : Number(url.port);
}

const NETWORK: Record<string, string> = {
  ECONNREFUSED: 'nothing listens there',
  ECONNRESET: 'it closed the connection',
  EHOSTUNREACH: 'there is no way to it',
  EAI_AGAIN: 'its name cannot be looked up now',
  ENETUNREACH: 'there is no way to it',
  ENOTFOUND: 'its name is not known',
  EPROTO: 'what listens there does not speak TLS as it should',
  ETIMEDOUT: 'it does not answer',
};

const ADVICE =
  'tell its authority by a file (login --ca-file, or HAWSER_CA_FILE) or by its SHA-256 (login --fingerprint)';

/** What OpenSSL says of a certificate when no authority that is known here has issued it. */
export const UNKNOWN_AUTHORITY = [
  ...['UNABLE_TO_GET_ISSUER_CERT', 'UNABLE_TO_GET_ISSUER_CERT_LOCALLY', 'UNABLE_TO_VERIFY_LEAF_SIGNATURE'],
  ...['SELF_SIGNED_CERT_IN_CHAIN', 'DEPTH_ZERO_SELF_SIGNED_CERT', 'CERT_UNTRUSTED'],
];

const UNTRUSTED: Record<string, string> = {
  ...Object.fromEntries(
    UNKNOWN_AUTHORITY.map((code) => [code, `its certificate is of an unknown authority; ${ADVICE}`]),
  ),
  CERT_HAS_EXPIRED: 'its certificate has expired',
  CERT_NOT_YET_VALID: 'its certificate is not valid yet',
  ERR_TLS_CERT_ALTNAME_INVALID: 'its certificate is for other names',
  CERT_SIGNATURE_FAILURE: 'its certificate is not signed by the trusted authority',
};

/** One sentence on a connection that did not come about. */
export function describeFailure(url: URL, failure: Error): string {
  // Where a name has several addresses, there is one error for each.
  const [first] = failure instanceof AggregateError ? failure.errors : [failure];
  const error = first instanceof Error ? first : failure;
  const code = String((error as NodeJS.ErrnoException).code ?? '');
  const distrust = UNTRUSTED[code];
  if (distrust !== undefined) return `${url.origin} is not trusted: ${distrust}.`;
  return `${url.origin} cannot be reached: ${NETWORK[code] ?? error.message}.`;
}
