/** The words of a text, so that a list of many short ones is easy to read. */
export function words(text: string): string[] {
  return text.trim().split(/\s+/);
}
