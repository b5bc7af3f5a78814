/** Search for anything by its name, from everywhere. */

import { signal } from '@preact/signals';

const isOpen = signal(false);

export function openPalette(): void {
  isOpen.value = true;
}

export function Palette() {
  return null;
}
