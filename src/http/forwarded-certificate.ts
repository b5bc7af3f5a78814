/** A client's certificate as a proxy has passed it on. Kept for the next request, so small: the text is read again. */

import { MINUTE } from '../lib/clock.ts';
import {
  type CertificateDescription,
  describeCertificate,
  isWithinTerm,
  type PresentedCertificate,
  thumbprintOf,
} from '../security/certificates.ts';
import type { PathValidator, Term } from '../security/certification-path.ts';
import type { CertificateChain } from './client-certificate-header.ts';

/** How long a refusal by the node CA is not thought over. */
const REFUSED_FOR = MINUTE;

export class ForwardedCertificate implements PresentedCertificate {
  /** SHA-256 over the DER form, 64 upper-case hex digits. */
  readonly thumbprint: string;
  private readonly read: () => CertificateChain;
  private description: CertificateDescription | undefined;
  private verdict: { by: PathValidator; isAccepted: boolean; term: Term } | null = null;

  /** @param read what reads its chain from the text */
  constructor(chain: CertificateChain, read: () => CertificateChain) {
    this.read = read;
    this.thumbprint = thumbprintOf(chain[0]);
  }

  describe(): CertificateDescription {
    this.description ??= describeCertificate(this.read()[0]);
    return this.description;
  }

  isAcceptedBy(validator: PathValidator, now: number): boolean {
    if (this.verdict?.by !== validator || !isWithinTerm(this.verdict.term, now))
      this.verdict = { by: validator, ...this.judge(validator, now) };
    return this.verdict.isAccepted;
  }

  private judge(validator: PathValidator, now: number): { isAccepted: boolean; term: Term } {
    const [certificate, ...issuers] = this.read();
    const term = validator.validate(certificate, issuers, now);
    if (term !== null) return { isAccepted: true, term };
    return { isAccepted: false, term: { notBefore: now, notAfter: now + REFUSED_FOR } };
  }
}
