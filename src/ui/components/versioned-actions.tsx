/** The deeds on a configuration or composite as a whole. What the user may not do is not offered. */

import type { Configuration } from '../types.ts';

interface Props {
  /** The user's own level. */
  access: Configuration['access'];
  /** Called with the dialog that is asked for. */
  onAsk: (dialog: 'draft' | 'delete') => void;
}

export function VersionedActions({ access, onAsk }: Props) {
  if (access === null || access === 'Read') return null;
  return (
    <>
      <button type="button" class="primary" onClick={() => onAsk('draft')}>
        New draft
      </button>
      {access === 'Manage' && (
        <button type="button" onClick={() => onAsk('delete')}>
          Delete
        </button>
      )}
    </>
  );
}
