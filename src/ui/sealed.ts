/** Secrets as texts: as parameter files hold them, and what is shown in their place. */

/** What the API shows in place of a secret. */
export const REDACTED = '<redacted>';

export const DOTS = '••••••••';

/** A secret as parameter files hold it. The group is the id of its key. */
export const SEALED = /ENC\[([0-9a-f]{16}),[A-Za-z0-9+/]+={0,2}\]/g;

/** What an encrypted text stands for. */
export const sealedName = (keyId: string) => `A secret, encrypted by the key ${keyId}`;
