/** Shows a password that the browser made, once. */

import { ShownOnce } from '../../components/shown-once.tsx';

/** A password with the name of its user. */
export interface MadePassword {
  username: string;
  password: string;
}

export function GeneratedPassword({ made, onClose }: { made: MadePassword; onClose: () => void }) {
  return (
    <ShownOnce
      heading={`Password of ${made.username}`}
      what="password"
      secret={made.password}
      onClose={onClose}
    />
  );
}
