/** Names of configurations and composites, which are also names of repositories. */

const RESOURCE_NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/;

/** `.git` ends the repository's folder and `.lock` Git's own lock files; `..` is refused in every ref. */
export function isResourceName(text: string): boolean {
  return RESOURCE_NAME.test(text) && !/\.(?:git|lock)$/i.test(text) && !text.includes('..');
}
