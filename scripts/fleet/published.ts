/** What the author has published, and therefore what nodes must get. */

import { createHash } from 'node:crypto';
import { unzip } from '../../test/support/unzip.ts';

export const ENTRY_POINT = 'main.dsc.yaml';

const FILES = 10;
/** Ten files of this size make a bundle of about 20 KB. */
const FILE_BYTES = 1_900;

interface Release {
  version: string;
  files: Record<string, string>;
  /** The checksum that the first node got; all other nodes must get the same. */
  checksum: string | null;
  /** The Repr-Digest of the bundle whose files were compared with the published ones. */
  digest: string | null;
}

/** What the server tells a node about a version. */
export interface Offer {
  version: string;
  checksum: string;
}

export class Published {
  readonly configurationName: string;
  /** How many versions are certainly published. Every poll from now on must answer the last of them, or a later one. */
  certain = 0;
  /** The version with which some nodes break; null for none. */
  breaking: string | null = null;
  private readonly releases: Release[] = [];

  constructor(configurationName: string) {
    this.configurationName = configurationName;
  }

  get count(): number {
    return this.releases.length;
  }

  /** Makes the next version. Nodes may get it from now on, and must get it once it is counted in `certain`. */
  prepare(): { version: string; files: Record<string, string> } {
    const minor = this.releases.length;
    const release = { version: `1.${minor}.0`, files: filesOf(minor), checksum: null, digest: null };
    this.releases.push(release);
    return release;
  }

  isFirst(version: string | null): boolean {
    return version === this.releases[0]?.version;
  }

  breaks(version: string | null): boolean {
    return version !== null && version === this.breaking;
  }

  /**
   * @param certain the value of `certain` when the request was sent
   * @throws Error if no node may get this answer
   */
  verify({ version, checksum }: Offer, certain: number): void {
    const at = this.releases.findIndex((release) => release.version === version);
    const release = this.releases[at];
    if (!release) throw new Error(`version ${version} was never published here`);
    if (at < certain - 1) {
      throw new Error(
        `version ${version}, although ${this.releases[certain - 1]?.version} was published before`,
      );
    }
    if (!/^[0-9a-f]{64}$/.test(checksum)) throw new Error(`"${checksum}" is no checksum`);
    const other = this.releases.find((known) => known !== release && known.checksum === checksum);
    if (other) throw new Error(`version ${version} has the checksum of version ${other.version}`);
    release.checksum ??= checksum;
    if (release.checksum !== checksum) {
      throw new Error(
        `version ${version} has checksum ${checksum}, to another node it was ${release.checksum}`,
      );
    }
  }

  /**
   * Checks that the bytes have this digest, and that the files are those that were published.
   * @throws Error if they are not
   */
  async verifyBundle(version: string, bytes: Buffer, digest: string | undefined): Promise<void> {
    const actual = `sha-256=:${createHash('sha256').update(bytes).digest('base64')}:`;
    if (actual !== digest)
      throw new Error(`the digest of the bundle is ${actual}, but it came with ${digest}`);
    const release = this.releases.find((known) => known.version === version);
    if (!release) throw new Error(`version ${version} was never published here`);
    if (release.digest === null) await compareFiles(release, bytes);
    release.digest ??= digest;
    // Equal checksums give bundles that are equal byte by byte, so the files need not be compared again.
    if (release.digest !== digest)
      throw new Error(`the bundle of version ${version} differs from another node's`);
  }
}

async function compareFiles({ version, files }: Release, bytes: Buffer): Promise<void> {
  const entries = await unzip(bytes);
  const wrong = entries.filter(({ path, content }) => files[path] !== content.toString('utf8'));
  const came = new Set(entries.map(({ path }) => path));
  const missing = Object.keys(files).filter((path) => !came.has(path));
  const faults = [...wrong.map(({ path }) => path), ...missing];
  if (faults.length > 0)
    throw new Error(`version ${version} was published with other files: ${faults.join(', ')}`);
}

/** Each version changes the entry point and one module, as real versions do. */
function filesOf(minor: number): Record<string, string> {
  return Object.fromEntries(
    Array.from({ length: FILES }, (_, at) => {
      const path = at === 0 ? ENTRY_POINT : `modules/part-${at}.yaml`;
      const revision = at === 0 ? minor : Math.floor((minor + at) / FILES);
      const line = `# ${path}, revision ${revision}\n`;
      return [path, `$schema: x\nresources: []\n${line.repeat(Math.ceil(FILE_BYTES / line.length))}`];
    }),
  );
}
