/** A secret that the server shows only once, with a line to copy. Nothing but its button closes the dialog. */

import type { ComponentChildren } from 'preact';
import { CopyLine } from './copy-line.tsx';
import { Dialog } from './dialog.tsx';

interface ShownOnceProps {
  heading: string;
  /** What it is, such as `token`. */
  what: string;
  secret: string;
  onClose: () => void;
  /** How it is used. */
  children?: ComponentChildren;
}

export function ShownOnce({ heading, what, secret, onClose, children }: ShownOnceProps) {
  return (
    <Dialog heading={heading} onClose={onClose} isWide isKept>
      <div class="shown-once">
        <p>Copy the {what} now. It is shown this once and cannot be read again.</p>
        <CopyLine text={secret} label={what} />
        {children}
        <div class="dialog-foot">
          <button type="button" class="primary" onClick={onClose}>
            Done
          </button>
        </div>
      </div>
    </Dialog>
  );
}
