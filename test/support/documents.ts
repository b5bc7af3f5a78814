/** A small document that dsc can read, with a comment that makes it unlike others. */
export function documentWith(comment: string): string {
  return `$schema: x\n# ${comment}\nresources: []\n`;
}
