/** Who may sign the versions of a configuration, and whether they must be signed before they are offered. */

export const SIGNING_REQUIRES = ['Off', 'Version'] as const;
export type SigningRequire = (typeof SIGNING_REQUIRES)[number];

export interface Signing {
  require: SigningRequire;
  /** OpenSSH's `allowed_signers`. */
  allowedSigners: string;
}

export const NO_SIGNING: Signing = { require: 'Off', allowedSigners: '' };

export const isSameSigning = (a: Signing, b: Signing) =>
  a.require === b.require && a.allowedSigners === b.allowedSigners;
