/** A button that makes a registration key, and then shows the lines that join a machine by it. */

import { useState } from 'preact/hooks';
import type { RegistrationKey } from '../../types.ts';
import { Joining } from './joining.tsx';
import { NewKey } from './new-key.tsx';

export function KeyWithLine() {
  const [isMaking, setMaking] = useState(false);
  const [made, setMade] = useState<RegistrationKey | null>(null);
  return (
    <>
      <button type="button" class="primary" onClick={() => setMaking(true)}>
        New registration key
      </button>
      {isMaking && <NewKey onClose={() => setMaking(false)} onMade={setMade} />}
      {made !== null && <Joining made={made} onClose={() => setMade(null)} />}
    </>
  );
}
