/** Writes sizes for people. */

const MIB = 1024 * 1024;
const GIB = 1024 * MIB;

/** Bytes in MiB or GiB. @param digits those behind the point of GiB */
export function formatSize(bytes: number, digits = 1): string {
  return bytes < GIB ? `${Math.floor(bytes / MIB)} MiB` : `${(bytes / GIB).toFixed(digits)} GiB`;
}
