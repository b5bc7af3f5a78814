/** Sizes of files in units that people read, with the exact number of bytes at hand. */

const UNITS = ['KiB', 'MiB', 'GiB'] as const;

/** For example `412 B`, `3.4 KiB`, `50 MiB`. */
export function sizeText(bytes: number): string {
  if (bytes < 1024) return `${bytes} B`;
  let size = bytes / 1024;
  let unit = 0;
  while (size >= 1024 && unit < UNITS.length - 1) {
    size /= 1024;
    unit += 1;
  }
  return `${size < 10 ? size.toFixed(1) : Math.round(size)} ${UNITS[unit]}`;
}

export function Size({ bytes }: { bytes: number }) {
  return (
    <span class="num size" title={`${bytes} bytes`}>
      {sizeText(bytes)}
    </span>
  );
}
