/** The rules for passwords. A password must be long, not the user name, and not one of the most common ones. */

export const PASSWORD_MIN = 12;
export const PASSWORD_MAX = 256;

/** The most common passwords of twelve characters or more in published leaks, in lower case. */
const COMMON = new Set(
  `
  000000000000 111111111111 123456789012 1234567890123 12345678901234 123456123456 1q2w3e4r5t6y
  1qaz2wsx3edc qwertyuiop12 qwertyuiop123 qwertyuiop[] qwerty123456 qwerty1234567 asdfghjkl123
  abcdefghijkl abcd1234abcd abc123abc123 password1234 password12345 password123456 passwordpassword
  p@ssw0rd1234 passw0rd1234 administrator administrator1 adminadminadmin admin1234567 admin123456789
  changeme1234 changemechangeme letmeinletmein letmein12345 welcome12345 iloveyou1234 iloveyouiloveyou
`
    .trim()
    .split(/\s+/),
);

/** The fault of a new password as a text, or null if it may be used. Lengths count characters, not bytes. */
export function passwordFault(password: string, username: string): string | null {
  // The password is hashed in this form. A password that looks long may be short after normalisation.
  const normal = password.normalize('NFKC');
  const length = [...normal].length;
  if (length < PASSWORD_MIN || length > PASSWORD_MAX) {
    return `A password has ${PASSWORD_MIN} to ${PASSWORD_MAX} characters`;
  }
  const folded = normal.toLowerCase();
  if (folded === username.normalize('NFKC').toLowerCase()) return 'The password must not be the user name';
  if (COMMON.has(folded)) return 'This password is among the most common ones';
  return null;
}
