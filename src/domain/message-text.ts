/** Text that people give as the message of a commit or tag. */

/** A line that begins a signature, as git finds it in the message of a tag (gpg-interface.c). */
const SIGNATURE = /^-----BEGIN (?:PGP SIGNATURE|PGP MESSAGE|SSH SIGNATURE|SIGNED MESSAGE)-----/m;

/** The text without carriage returns and without blank lines at its beginning and end. */
export function cleanMessage(text: string): string {
  const lines = text.replaceAll('\r', '').split('\n');
  const isText = (line: string) => line.trim() !== '';
  return lines.slice(lines.findIndex(isText), lines.findLastIndex(isText) + 1).join('\n');
}

/** Whether a line of the text would be taken for the beginning of a signature. */
export function holdsSignature(text: string): boolean {
  return SIGNATURE.test(text);
}

/** The message without the signature that ends it. */
export function withoutSignature(message: string): string {
  const at = message.search(SIGNATURE);
  return at < 0 ? message : message.slice(0, at);
}
