/**
 * Semantic Versioning 2.0.0 (semver.org), exactly. Numbers stay the text that they are, because SemVer sets no limit to
 * them and JavaScript would round those beyond 2^53.
 */

export interface SemVer {
  /** Decimal digits without leading zeros, as are the next two. */
  major: string;
  minor: string;
  patch: string;
  /** Identifiers; none of a stable version. */
  prerelease: readonly string[];
  build: readonly string[];
}

const NUMBER = '0|[1-9]\\d*';
const PRERELEASE = `(?:${NUMBER}|\\d*[A-Za-z-][0-9A-Za-z-]*)`;
const BUILD = '[0-9A-Za-z-]+';
const dotted = (part: string) => `(${part}(?:\\.${part})*)`;
const VERSION = new RegExp(
  `^(${NUMBER})\\.(${NUMBER})\\.(${NUMBER})(?:-${dotted(PRERELEASE)})?(?:\\+${dotted(BUILD)})?$`,
);

/** Null for a text that is not exactly a version. */
export function parseSemVer(text: string): SemVer | null {
  const [whole, major = '', minor = '', patch = '', prerelease, build] = VERSION.exec(text) ?? [];
  if (whole === undefined) return null;
  return { major, minor, patch, prerelease: prerelease?.split('.') ?? [], build: build?.split('.') ?? [] };
}

/** The order of SemVer 11, which ignores build metadata. The result is below 0 if `a` is lower. */
export function comparePrecedence(a: SemVer, b: SemVer): number {
  return (
    compareIdentifiers(a.major, b.major) ||
    compareIdentifiers(a.minor, b.minor) ||
    compareIdentifiers(a.patch, b.patch) ||
    comparePrereleases(a, b)
  );
}

/** The order of two versions by their prereleases alone. A stable version is above each that has one. */
export function comparePrereleases({ prerelease: a }: SemVer, { prerelease: b }: SemVer): number {
  if (a.length === 0 || b.length === 0) return b.length - a.length;
  return compareLists(a, b);
}

/** An order of two versions of the same precedence, for which SemVer has none. */
export function compareBuilds({ build: a }: SemVer, { build: b }: SemVer): number {
  return compareLists(a, b);
}

function compareLists(a: readonly string[], b: readonly string[]): number {
  const shared = Math.min(a.length, b.length);
  for (let at = 0; at < shared; at += 1) {
    const order = compareIdentifiers(a[at] ?? '', b[at] ?? '');
    if (order !== 0) return order;
  }
  return a.length - b.length;
}

/** Numbers are below all other identifiers, and of two numbers the one with more digits is higher. */
function compareIdentifiers(a: string, b: string): number {
  if (a === b) return 0;
  const [isNumber, isOther] = [isNumeric(a), isNumeric(b)];
  if (isNumber !== isOther) return isNumber ? -1 : 1;
  if (!isNumber) return a < b ? -1 : 1;
  // Build metadata alone may have leading zeros.
  const [first, second] = [a.replace(/^0+/, ''), b.replace(/^0+/, '')];
  if (first === second) return a.length - b.length;
  return first.length - second.length || (first < second ? -1 : 1);
}

function isNumeric(identifier: string): boolean {
  return !/\D/.test(identifier);
}
