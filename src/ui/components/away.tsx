/** Says when the server does not answer, and when it is asked again. */

import { useEffect, useState } from 'preact/hooks';
import { awayUntil } from '../connection.ts';

export function Away() {
  const until = awayUntil.value;
  const [, tick] = useState(0);
  useEffect(() => {
    if (until === null) return undefined;
    const timer = setInterval(() => tick((count) => count + 1), 1_000);
    return () => clearInterval(timer);
  }, [until]);
  const seconds = until === null ? 0 : Math.max(0, Math.ceil((until - Date.now()) / 1_000));
  return (
    <div role="status" class="away-box">
      {until !== null && (
        <p class="away">
          The server does not answer. What you see may be old.{' '}
          <span aria-hidden="true" class="num">
            {seconds > 0 ? `The next attempt is in ${seconds} s.` : 'An attempt is under way.'}
          </span>
        </p>
      )}
    </div>
  );
}
